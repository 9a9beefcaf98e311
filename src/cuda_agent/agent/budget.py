"""What an episode may spend on its model."""

from pydantic import PositiveFloat, PositiveInt

from cuda_agent.agent.context import estimate_reply_tokens, estimate_tokens
from cuda_agent.config import Config
from cuda_agent.errors import CudaAgentError
from cuda_agent.llm.chat import ChatModel, Message, Reply, ToolSchema, Usage


class Budget(Config):
    """Limits of what one episode spends, over all its replies; the last reply may go beyond them."""

    max_cost: PositiveFloat | None = None
    """The most an episode may cost, in the currency of the prices; without it no limit."""
    max_tokens_total: PositiveInt | None = None
    """The most tokens an episode may read and write, the conversation anew for each reply; else no limit."""


class BudgetError(CudaAgentError):
    """An episode has spent what it may."""


class BudgetedChat:
    """Asks another model until the budget is spent; one for each episode.

    Tokens are those that the model's server counts, and about what the texts are where it counts none.
    """

    def __init__(self, chat: ChatModel, budget: Budget) -> None:
        self._chat = chat
        self._budget = budget
        self._cost = 0.0
        self._tokens = 0
        self.name = chat.name
        """The other model's name."""

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The other model's answer.

        Raises:
            BudgetError: the budget was spent before, or what is spent cannot be known; says which.
        """
        self._check()
        reply = self._chat.reply(messages, tools)
        if self._budget.max_cost is not None and reply.usage == Usage():
            raise BudgetError(
                "the endpoint counts no tokens, so --max-cost cannot be kept; give --max-tokens-total"
            )
        self._cost += reply.usage.cost
        self._tokens += reply.usage.prompt_tokens or estimate_tokens(messages, tools)
        self._tokens += estimate_reply_tokens(reply)
        return reply

    def _check(self) -> None:
        budget = self._budget
        if budget.max_cost is not None and self._cost >= budget.max_cost:
            raise BudgetError(f"a cost of {self._cost:.4g} reached --max-cost {budget.max_cost:g}")
        if budget.max_tokens_total is not None and self._tokens >= budget.max_tokens_total:
            raise BudgetError(f"{self._tokens} tokens reached --max-tokens-total {budget.max_tokens_total}")
