from cuda_agent.expert.graph import Graph, Node, Origin, Source, TraceReply, find_refs, replace_refs

NODE = Node(
    name="n",
    op="add",
    args={"0": {"ref": "a"}, "1": [{"ref": "b"}, 3], "dim": -1, "dims": [0, 2], "none": None},
    shape=(2, 3),
    dtype="float32",
)


def test_refs_are_found_wherever_they_stand() -> None:
    assert NODE.get_refs() == ("a", "b")
    assert NODE.get_ref("1") == "b"
    assert find_refs([{"ref": "x"}, [{"ref": "y"}], {"other": 1}, 2.0]) == ["x", "y"]


def test_refs_are_renamed_and_the_rest_stays() -> None:
    assert replace_refs([{"ref": "x"}, 1, {"ref": "z"}], {"x": "y"}) == [{"ref": "y"}, 1, {"ref": "z"}]


def test_integers_are_read_from_lists_and_alone() -> None:
    assert (NODE.get_ints("dim"), NODE.get_ints("dims"), NODE.get_ints("none")) == ((-1,), (0, 2), ())
    assert NODE.numel == 6


def test_infinities_survive_the_way_out_of_the_sandbox() -> None:
    node = NODE.model_copy(update={"args": {"value": float("-inf")}})
    source = Source(name="a", origin=Origin.INPUT, path="a", shape=(2,), dtype="int64")
    graph = Graph(sources=(source,), nodes=(node,), outputs=("n",), structure="{0}")
    back = TraceReply.model_validate_json(TraceReply(graph=graph).model_dump_json())
    assert back.graph == graph
    assert graph.shapes == {"a": (2,), "n": (2, 3)}
    assert graph.dtypes == {"a": "int64", "n": "float32"}
