"""From a user's selection of tasks to stored results, with the marks and notes that belong to the
numbers.
"""
