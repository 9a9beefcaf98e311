"""Charts as data hold the right numbers."""

from cuda_agent.report.charts import build_bars, build_histogram, count_bars


def test_bars_keep_categories_in_order_and_leave_holes() -> None:
    chart = build_bars("t", {"a": {"x": 1.0, "y": 2.0}, "b": {"z": 3.0}}, caption="c")
    assert chart.categories == ("x", "y", "z")
    assert chart.series[1].ys == (None, None, 3.0)


def test_histogram_counts_every_value_once() -> None:
    chart = build_histogram("t", [0.5, 1, 1.9, 2, 4, 5], edges=(1, 2, 4), caption="c")
    assert dict(zip(chart.categories, chart.series[0].ys, strict=True)) == {
        "below 1": 1,
        "1 to 2": 2,
        "2 to 4": 2,
        "above 4": 1,
    }


def test_the_rest_is_told_and_dwarfs_no_bar() -> None:
    chart = count_bars("t", ["a"] * 3 + ["b"] * 2 + ["c", "d"], caption="c.", most=2)
    assert chart.categories == ("a", "b")
    assert chart.series[0].ys == (3, 2)
    assert chart.caption == "c. 2 further ones occur 2 times in all and are not drawn."
