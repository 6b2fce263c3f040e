"""What each measure is of, and which intervals its scores have; their values and influences are in
test_binary, test_correlations, test_influence and test_retrieval.
"""

from embedlab.analysis.measures import MEASURES

OF_SCORES = {"spearman", "pearson", "average precision", "roc auc"}
OF_CLASSES = {"accuracy", "f1", "matthews"}


def test_a_measure_is_of_scores_of_classes_or_of_queries() -> None:
    of_classes = {name for name, one in MEASURES.items() if one.is_of_classes}
    of_queries = {name for name, one in MEASURES.items() if one.is_of_queries}
    assert of_classes == OF_CLASSES
    assert {*MEASURES} - of_classes - of_queries == OF_SCORES
    assert not of_classes & of_queries
    assert {name for name in of_queries if not MEASURES[name].is_of_ranks} == {
        "margin",
        "entailed closer",
    }
    assert not any(MEASURES[name].is_of_ranks for name in OF_CLASSES | OF_SCORES)


def test_shares_and_correlations_have_intervals_that_fit_them() -> None:
    scales = {name: one.scale for name, one in MEASURES.items()}
    assert {name for name, scale in scales.items() if scale == "correlation"} == {
        "spearman",
        "pearson",
    }
    assert {name for name, scale in scales.items() if scale == "share"} == {
        "accuracy",
        "entailed closer",
        *(name for name in scales if name.startswith("recall@")),
    }
