"""What a library needs from outside decides, whatever its sources called it."""

import subprocess
from pathlib import Path

import pytest

from cuda_agent.environment.symbols import check_symbols, list_functions
from cuda_agent.environment.toolchain import find_cxx
from cuda_agent.tasks.target import Target


def build(folder: Path, source: str, *flags: str) -> Path:
    (folder / "a.cpp").write_text(source)
    command = [str(find_cxx()), "-shared", "-fPIC", "-fopenmp", "-Wl,--hash-style=sysv", *flags]
    subprocess.run([*command, str(folder / "a.cpp"), "-o", str(folder / "a.so")], check=True)
    return folder / "a.so"


def test_ordinary_kernels_need_nothing_forbidden(tmp_path: Path) -> None:
    source = """
    #include <algorithm>
    #include <cmath>
    #include <iostream>
    #include <map>
    #include <memory>
    #include <mutex>
    #include <sstream>
    #include <stdexcept>
    #include <string>
    #include <unordered_map>
    #include <vector>
    static std::mutex lock;
    static std::unordered_map<std::string, std::vector<float>> packed;
    static std::map<int, std::shared_ptr<int>> tree;
    extern "C" float work(float* x, int n) {
      std::lock_guard<std::mutex> guard(lock);
      if (n < 0) throw std::invalid_argument("n is " + std::to_string(n));
      std::ostringstream text;
      text << n << ' ' << 1.5;
      packed[text.str()].resize(n);
      tree[n] = std::make_shared<int>(n);
      std::cerr << text.str() << std::endl;
      std::sort(x, x + n);
      float sum = 0;
    #pragma omp parallel for reduction(+ : sum) schedule(dynamic)
      for (int i = 0; i < n; ++i) sum += std::exp(x[i]) * std::erf(x[i]) + std::tanh(x[i]);
      return sum;
    }
    """
    assert check_symbols(build(tmp_path, source, "-O2", "-std=c++17"), Target.CPU) == ()


@pytest.mark.parametrize(
    ("body", "symbol"),
    [
        ('system("true");', "system"),
        ('dlopen("x", 2);', "dlopen"),
        ("fork();", "fork"),
        ('open("/etc/passwd", 0);', "open"),
        ('fopen("/etc/passwd", "r");', "fopen"),
        ("syscall(39);", "syscall"),
        ("mmap(0, 4096, 7, 34, -1, 0);", "mmap"),
        ("std::thread([] {}).detach();", "thread"),
        ('std::ifstream("/etc/passwd").get();', "ifstream"),
        ("std::random_device{}();", "random_device"),
        ("std::chrono::steady_clock::now();", "chrono"),
        ("usleep(1);", "usleep"),
        ("_exit(0);", "_exit"),
        ("(void)environ;", "environ"),
        ('JOIN(get, env)("HOME");', "getenv"),
        ("mine_but_missing();", "mine_but_missing"),
    ],
)
def test_reaching_out_is_found(tmp_path: Path, body: str, symbol: str) -> None:
    source = f"""
    #include <chrono>
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <fstream>
    #include <random>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <thread>
    #include <unistd.h>
    #define JOIN(a, b) a##b
    void mine_but_missing();
    volatile void* keep;
    extern "C" void work() {{ keep = (void*)environ; {body} }}
    """
    if symbol != "environ":
        source = source.replace("keep = (void*)environ;", "")
    found = check_symbols(build(tmp_path, source, "-w"), Target.CPU)
    assert any(symbol in violation.reason for violation in found)


def test_loading_more_and_steering_the_loader_is_found(tmp_path: Path) -> None:
    library = build(
        tmp_path,
        'extern "C" int f() { return 1; }',
        "-Wl,-rpath,/tmp",
        "-Wl,--no-as-needed",
        "-lutil",
        "-lresolv",
    )
    rules = {violation.rule for violation in check_symbols(library, Target.CPU)}
    assert rules == {"loader-entry", "forbidden-library"}


def test_functions_are_listed_without_the_binding_s_own(tmp_path: Path) -> None:
    source = 'extern "C" { int __tvm_ffi_b() { return 0; } int __tvm_ffi_a() { return 0; }'
    source += " int __tvm_ffi__metadata_a() { return 0; } int other() { return 0; } }"
    assert list_functions(build(tmp_path, source)) == ("a", "b")


def test_an_unreadable_library_is_a_violation(tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(b"nothing")
    assert [violation.rule for violation in check_symbols(tmp_path / "x.so", Target.CPU)] == ["symbol-table"]
    assert list_functions(tmp_path / "x.so") == ()


def test_exit_is_what_nvcc_s_stubs_need(tmp_path: Path) -> None:
    library = build(tmp_path, '#include <stdlib.h>\nextern "C" void f(int x) { if (x) exit(1); }')
    assert [violation.rule for violation in check_symbols(library, Target.CPU)] == ["forbidden-symbol"]
    assert check_symbols(library, Target.CUDA) == ()
    others = build(tmp_path, '#include <unistd.h>\nextern "C" void f(int x) { if (x) _exit(1); }')
    assert [violation.rule for violation in check_symbols(others, Target.CUDA)] == ["forbidden-symbol"]


def test_an_operator_of_torch_is_named_and_memory_allowed(tmp_path: Path) -> None:
    source = """
    namespace at { namespace _ops {
    struct relu { static void call(int); };
    struct empty_like { static void call(int); };
    } }
    extern "C" __attribute__((visibility("default"))) void __tvm_ffi_f() {
      at::_ops::empty_like::call(1);
      at::_ops::relu::call(1);
    }
    """
    library = build(tmp_path, source, "-w")
    (found,) = check_symbols(library, Target.CPU, needs_torch=True)
    assert found.rule == "provenance"
    assert found.reason.startswith("`at::relu`: ")
    assert [each.rule for each in check_symbols(library, Target.CPU)] == ["forbidden-symbol"] * 2


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("cudnnGetConvolutionForwardAlgorithm_v7", ""),
        ("cudnnConvolutionForward", ""),
        ("cudnnFindConvolutionForwardAlgorithmEx", "clock"),
        ("cudaEventElapsedTime", "clock"),
    ],
)
def test_what_measures_time_is_a_clock(tmp_path: Path, name: str, refused: str) -> None:
    library = build(tmp_path, f'extern "C" void {name}(); extern "C" void work() {{ {name}(); }}')
    found = [violation for violation in check_symbols(library, Target.CUDA) if name in violation.reason]
    assert [refused in violation.reason for violation in found] == ([True] if refused else [])
