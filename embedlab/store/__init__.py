"""One store of everything that embedlab keeps: get and put, with one seal, lock, mark, eviction and
writer.
"""
