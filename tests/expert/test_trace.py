import io
import re

import pytest
import torch

from cuda_agent.expert.graph import Origin, TraceReply
from cuda_agent.expert.trace import encode_arg, main, trace_source
from tests.expert.zoo import ZOO, X, write_module


def test_sources_say_where_they_come_from() -> None:
    graph = trace_source(ZOO["nested_inputs"])
    assert [(source.origin, source.path) for source in graph.sources] == [
        (Origin.INPUT, "p[0]"),
        (Origin.INPUT, "p[1]"),
    ]
    assert graph.structure.format("a", "b") == "{'sum': a, 'rest': [b]}"


def test_tables_and_constants_are_told_apart() -> None:
    table = trace_source(ZOO["table_outside_state"])
    held = {source.path: (source.origin, source.persistent) for source in table.sources}
    assert held["table"] == (Origin.BUFFER, False)
    small = trace_source(ZOO["small_constant"])
    assert [s.values for s in small.sources if s.origin is Origin.CONSTANT] == [(1.0, 2.0, 3.0)]


def test_holders_list_every_parameter_read_or_not() -> None:
    graph = trace_source(write_module("return x * 2", X, init="self.unused = nn.Linear(2, 2)"))
    assert [holder.path for holder in graph.holders] == ["unused.weight", "unused.bias"]
    assert [source.path for source in graph.sources if source.origin is Origin.INPUT] == ["x"]


def test_dropout_is_traced_as_at_inference() -> None:
    graph = trace_source(
        write_module("return nn.Dropout(0.5).eval()(x) + F.dropout(x, training=self.training)", X)
    )
    assert not any("rand" in node.op or "bernoulli" in node.op for node in graph.nodes)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("return x if x.sum() > 0 else -x", "Data-dependent|data-dependent|GuardOnDataDependent"),
        ("return x.numpy()", "."),
        ("x.add_(1)\nreturn x", "writes to its inputs"),
        ("raise KeyError('lost')", "KeyError: 'lost'"),
    ],
)
def test_what_cannot_be_traced_is_said_in_a_sentence(
    forward: str, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("print('noise')\n" + write_module(forward, X)))
    main()
    reply = TraceReply.model_validate_json(capsys.readouterr().out)
    assert reply.graph is None
    assert len(reply.reason.splitlines()) == 1
    assert re.search(reason, reply.reason)


def test_arguments_become_json() -> None:
    assert encode_arg([torch.float16, None, 1.5, (2, True)]) == ["float16", None, 1.5, [2, True]]
    assert encode_arg(torch.strided) == "torch.strided"
