"""All that uses private parts of Textual: faster drawing and styles, frames for slow terminals, and
typed keys one at a time.

Each file here works with the versions that `versions.py` names. With `textual_tuning = "off"`, and
with any other version, the dashboard uses Textual's public parts alone: `app.py` and `pacing.py`
then leave everything to it, and `delay.py` reads one mark where it exists.
"""
