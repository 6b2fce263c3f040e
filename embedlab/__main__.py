"""`python -m embedlab`, which detached processes use too."""

import sys

from embedlab.cli.app import main

sys.exit(main())
