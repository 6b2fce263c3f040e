import subprocess
import sys


def test_the_dashboard_loads_neither_torch_nor_anything_as_heavy() -> None:
    heavy = ("torch", "transformers", "datasets", "accelerate", "scipy", "safetensors")
    program = (
        "import sys, embedlab.tui.app, embedlab.tui.runs.launch_sheet, embedlab.tui.runs.grid_screen, "
        "embedlab.scoring.task_comparison, embedlab.scoring.training_text; print([name for "
        f"name in {heavy} if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
