"""verl's agent loop around our episode: what verl asks for, in its words."""

import uuid
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput, register

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.llm.chat_template import ChatTemplate
from cuda_agent.rl.verl_adapter.engine_chat import EngineChat, Generated, Vocabulary
from cuda_agent.rl.verl_adapter.episode import AgentEpisode, Hosting, build_limits, hold_episode
from cuda_agent.rl.verl_adapter.overrides import AGENT_NAME
from cuda_agent.rl.verl_adapter.task_rows import read_task
from cuda_agent.rl.verl_adapter.version import check_verl
from cuda_agent.tasks.target import Target


@register(AGENT_NAME)
class CudaAgentLoop(AgentLoopBase):  # type: ignore[misc] # verl has no types
    """One episode on one task: verl's server generates, our tools and judge do the rest."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        target: str = "cuda",
        out: str = "rollouts",
        pool: str = "",
        limits: dict[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """What has a name comes from agent_loop.yaml (`limits`: of `EpisodeLimits`), all else from verl."""
        check_verl()
        super().__init__(*args, **kwargs)
        rollout = self.rollout_config
        bounds = build_limits(
            turns=rollout.multi_turn.max_assistant_turns or EpisodeLimits().turns,
            prompt_tokens=rollout.prompt_length,
            response_tokens=rollout.response_length,
        )
        self._hosting = Hosting(
            episode=EpisodeConfig(target=Target(target), limits=bounds.replace(**(limits or {}))),
            out=Path(out).absolute(),
            pool=pool,
            response_tokens=rollout.response_length,
        )
        end_ids = frozenset({self.tokenizer.eos_token_id})
        self._vocabulary = Vocabulary(
            template=ChatTemplate(self.tokenizer, end_ids=end_ids, wants_native=True),
            end_ids=end_ids,
            window_tokens=bounds.total_tokens,
        )

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:  # noqa: ANN401
        """Hold one episode on the row's task.

        Raises:
            InfrastructureError: the machine failed, however often it was tried.
        """
        # One name for the whole episode: verl sends it to the server that holds its cache.
        request_id = uuid.uuid4().hex

        async def generate(prompt_ids: tuple[int, ...], room: int) -> Generated:
            output = await self.server_manager.generate(
                request_id=request_id,
                prompt_ids=list(prompt_ids),
                sampling_params={**sampling_params, "max_tokens": room},
            )
            logprobs = None if output.log_probs is None else tuple(output.log_probs)
            return Generated(tuple(output.token_ids), logprobs)

        episode = await hold_episode(
            read_task(row),
            self._hosting,
            build_chat=lambda: EngineChat(generate, self._vocabulary, loop=self.loop),
        )
        return build_output(episode)


def build_output(episode: AgentEpisode) -> AgentLoopOutput:
    """An episode in verl's record; every episode has the same extra fields, as verl wants."""
    return AgentLoopOutput(
        prompt_ids=list(episode.prompt_ids),
        response_ids=list(episode.response_ids),
        response_mask=list(episode.response_mask),
        response_logprobs=list(episode.response_logprobs),
        reward_score=episode.reward,
        num_turns=episode.turns,
        metrics=AgentLoopMetrics(generate_sequences=episode.generate_s, tool_calls=episode.tools_s),
        extra_fields={
            "reward_extra_info": {"stop_reason": episode.stop_reason.value, "is_cut": float(episode.is_cut)}
        },
    )
