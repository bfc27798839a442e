# SPDX-License-Identifier: BSD-2-Clause
"""Runs whose account has lost nothing: one program, or several scenarios under one gpuprobe."""
from lib import exact
from lib.script import script

STAT = ["stat", "--json"]
DIAGNOSE = ["diagnose", "--json"]


def by_scenario(probe, prelude, scenarios, base):
    """The processes in which each of the scenarios was run, one after the other under one gpuprobe, by their names."""
    pids = probe.directory / "pids"
    result = probe.run(*script(f"""
        import traceback
        for name, actions in {scenarios!r}.items():
            child = os.fork()
            if not child:
                try:
                    exec({prelude!r} + actions, globals())
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            with open({str(pids)!r}, "a") as told:
                print(child, name, file=told)
            if os.wait()[1]:
                sys.exit(f"{{name}}: failed")
    """), base=base)
    assert exact.lost(result.final) == {}
    lines = (line.partition(" ") for line in pids.read_text(encoding="utf-8").splitlines())
    return {name: result.process_of(int(pid)) for pid, _, name in lines}


def stat(probe, *command, args=(), env=None, base=STAT):
    result = probe.run(*command, base=base, args=args, env=env)
    assert exact.lost(result.final) == {}
    return result
