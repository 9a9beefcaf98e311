"""Numbers as pages write them."""

from cuda_agent.report.page import format_ms, format_times


def test_numbers() -> None:
    assert (format_ms(0.12345), format_ms(None)) == ("0.123 ms", "-")
    assert (format_times(2.106), format_times(None)) == ("2.11x", "-")
