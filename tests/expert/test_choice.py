from cuda_agent.expert.choice import Choice
from cuda_agent.expert.schedule import Keep


def test_a_choice_says_what_it_is() -> None:
    assert Choice().describe() == "keep dear, streaming stores, unroll 4"
    other = Choice(keep=Keep.ROW, stream=False, unroll=2, prefetch=True)
    assert other.describe() == "keep row, plain stores, unroll 2, prefetch next row"
