"""The tables of papers reproduced: planned, trained or found, evaluated, and compared with the
published values.
"""
