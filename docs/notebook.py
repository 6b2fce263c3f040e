"""Two models compared in Python, as in a notebook: python docs/notebook.py MODEL writes gap.png.

MODEL is a finished run, a model folder or a name from the hub; it is compared with word overlap on
generated sentences. For real ones replace `data="tiny"` by `data="DIR"`, a folder of corpora.
"""

import sys

import matplotlib.pyplot as plt
import polars as pl

import embedlab

model = sys.argv[1]

# Who is better, by how much, and could it be chance?
found = embedlab.compare(["dice", model], tasks=["sts12", "sts-benchmark"], data="tiny")
print(found.frame.select("slice", "model", "score", "low", "high", "difference", "p_corrected"))
print(*found.notes, sep="\n")

# Where do they disagree although people agree that the sentences mean the same?
pairs = embedlab.pairs(["dice", model], where="gold>4", tasks=["sts12"], data="tiny").frame.filter(
    model=model
)
print(pairs.select("sentence1", "sentence2", "gold", "dice", "similarity").head(5))

# How does the gap depend on word overlap?
by_overlap = pairs.group_by(pl.col("dice").round(1)).agg(pl.col("gap").mean()).sort("dice")
plt.plot(by_overlap["dice"], by_overlap["gap"], marker="o")
plt.xlabel("word overlap (Dice)")
plt.ylabel("mean gap of percentile ranks")
plt.savefig("gap.png")
