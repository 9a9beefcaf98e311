"""A server elsewhere is a pool like any other."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.config import Config
from cuda_agent.environment import remote_pool
from cuda_agent.environment.remote_pool import RemotePool
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.rundir import RunDir
from cuda_agent.workers.item import OutcomeStatus
from tests.environment.quick_server import TOKEN, order, serve


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDir]:
    with RunDir.create(tmp_path / "run", Config()) as run:
        yield run


def test_long_ids_that_end_alike_are_two_orders(run: RunDir) -> None:
    with serve(run) as url:
        pool = RemotePool(url, token=TOKEN, run_id="r", ahead=4)
        items = [
            order(f"{letter}/{'a-long-name/' * 5}sample", 0.01 * place) for place, letter in enumerate("ab")
        ]
        assert [outcome.value for outcome in pool.run(items)] == [{"text": "0.0"}, {"text": "0.01"}]


def test_a_client_gets_every_outcome_and_the_second_time_at_once(run: RunDir) -> None:
    with serve(run) as url:
        pool = RemotePool(url, token=TOKEN, run_id="r", ahead=4)
        items = [order(f"odd name/{number} ü", 0.2) for number in range(6)]
        outcomes = list(pool.run(items))
        assert [outcome.item_id for outcome in outcomes] == [item.item_id for item in items]
        assert {outcome.status for outcome in outcomes} == {OutcomeStatus.DONE}
        assert outcomes[0].value == {"text": "0.2"}
        start = time.monotonic()
        assert list(RemotePool(url, token=TOKEN, run_id="r").run(items)) == outcomes
        assert time.monotonic() - start < 1.0
        assert pool.causes == ()


def test_too_many_orders_wait_with_the_client(run: RunDir) -> None:
    with serve(run, max_open=2) as url:
        pool = RemotePool(url, token=TOKEN, run_id="r", ahead=8)
        outcomes = list(pool.run([order(str(number), 0.3) for number in range(5)]))
    assert [outcome.status for outcome in outcomes] == [OutcomeStatus.DONE] * 5


def test_a_refused_client_is_told(run: RunDir) -> None:
    with serve(run) as url, pytest.raises(UserError, match="401"):
        list(RemotePool(url, token="wrong", run_id="r").run([order("a")]))


def test_a_server_that_stays_away_is_told(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(run) as url:
        pass
    monkeypatch.setattr(remote_pool, "PATIENCE_S", 1.0)
    with pytest.raises(InfrastructureError, match=f"{url} did not answer for 1 s: .*refused"):
        list(RemotePool(url, token=TOKEN, run_id="r").run([order("a")]))


def test_a_client_waits_for_a_server_that_is_away(run: RunDir) -> None:
    with serve(run) as url:
        pass
    outcomes: list[OutcomeStatus] = []
    pool = RemotePool(url, token=TOKEN, run_id="r")

    def use() -> None:
        outcomes.extend(outcome.status for outcome in pool.run([order("a")]))

    client = threading.Thread(target=use)
    client.start()
    time.sleep(1.0)
    assert client.is_alive()
    with serve(run, port=int(url.rpartition(":")[2])):
        client.join(60)
    assert outcomes == [OutcomeStatus.DONE]
