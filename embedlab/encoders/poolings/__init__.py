"""The poolings, one a file; the file of `mean-without-cls` is mean_without_cls.py."""
