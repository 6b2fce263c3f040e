"""The dashboard: a terminal application that looks at files and starts processes, and never loads
torch.
"""
