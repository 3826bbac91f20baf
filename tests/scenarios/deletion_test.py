"""A board is deleted while many processes write to it, and the server is killed while what it held is taken away: nothing that was
written to it comes back, in no version and after no restart (FIELD RO9). Prints "N passed, M failed"."""
import argparse
import json
import random
import subprocess
import sys
import threading
import time
import traceback

from processes import Apply, Server, wait_for

CANARY = "身份证110101199402280012"


def refused(server, *arguments):
    """Standard error of a tafel command that must be refused as deleted."""
    done = subprocess.run(server.command(*arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "deleted: the board" in done.stderr, (done.returncode, done.stdout, done.stderr)
    return done.stderr


def deleted_boards(server):
    return {each["board"]: each for each in map(json.loads, server.tafel("boards", "--deleted").splitlines())}


def boards(server):
    """Versions by board."""
    return {each["board"]: each["version"] for each in map(json.loads, server.tafel("boards").splitlines())}


def write_one(server, board, delta, actor="late"):
    done = subprocess.run(server.command("apply", board, actor=actor), input=json.dumps(delta), capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def expect_gone(server, board, version):
    """Nothing reads it and nothing writes to it, in whichever way."""
    refused(server, "get", board)
    refused(server, "log", board)
    refused(server, "history", board, "n")
    assert f"at version {version} by officer" in refused(server, "get", board, "--at", "1")
    for delta in ({"set": {"late": True}}, {"id": "again", "base": 1, "incr": {"n": 1}},
                  {"ops": [{"op": "fork", "value": {"parent": "s/other"}}]}, {"ops": [{"op": "erase", "path": "n"}]}):
        receipt = write_one(server, board, delta)
        assert receipt["error"]["code"] == "deleted" and receipt["version"] == version, receipt
    assert board not in boards(server)
    report = json.loads(server.tafel("verify", board))
    assert report["defects"] == [] and report["version"] == version and report["cells"] == 0, report
    return report


def delete_under_writers(server, writers, rounds, _):
    """RO9: eight processes write, with deltas of all ages in flight; one deletes. All that was acknowledged stands before the deletion,
    all that came after is refused, and the board stays away."""
    server.tafel("apply", "s/other", "/dev/null")
    write_one(server, "s/other", {"set": {"a": 1}})
    deltas = [{"base": 0, "ops": [{"op": "incr", "path": "n"}, {"op": "append", "path": "log", "value": CANARY}]}
              if r % 2 else {"incr": {"n": 1}} for r in range(rounds)]
    jobs = [Apply(server, "s/board", deltas, f"w{i}", pipeline=16) for i in range(writers)]
    wait_for(lambda: boards(server).get("s/board", 0) > writers * rounds // 8)
    told = server.tafel("delete", "s/board", "--yes", actor="officer")
    version = int(told.split("by version ")[1])
    assert told == f"deleted s/board, by version {version}\n", told
    versions = []
    for job in jobs:
        receipts = job.receipts()
        errors = [receipt["error"] for receipt in receipts]
        first = next((i for i, error in enumerate(errors) if error), len(errors))
        assert first < len(errors), "the load was over before the deletion: give it more rounds"
        assert all(error and error["code"] == "deleted" for error in errors[first:]), errors[first]
        assert all(receipt["version"] == version for receipt in receipts[first:])
        versions += [receipt["version"] for receipt in receipts[:first]]
    assert sorted(versions) == list(range(1, version))
    assert deleted_boards(server)["s/board"]["done"] is True
    assert expect_gone(server, "s/board", version)["events"] == 1
    server.kill()
    server.start()
    assert expect_gone(server, "s/board", version)["events"] == 1
    assert server.full("s/other")["state"] == {"a": 1}


def kills_during_the_purge(server, writers, rounds, seed):
    """What the board held is taken away in steps; the server is killed again and again in between, and goes on at each start."""
    dice = random.Random(seed)
    deltas = [{"id": f"d{r}", "ops": [{"op": "append", "path": f"log.{r % 7}", "value": f"{CANARY} {r}"},
                                      {"op": "patch", "path": "国家", "add": [f"{CANARY} {r}.{i}" for i in range(12)], "ttl_ms": 10 ** 9}]}
              for r in range(rounds * writers // 4)]
    write_one(server, "s/other", {"set": {"a": 1}})
    assert all(receipt["error"] is None for receipt in Apply(server, "s/purge", deltas, "filler", pipeline=64).receipts())
    version = len(deltas) + 1
    end = {"id": "the end", "ops": [{"op": "delete", "path": "$board"}]}
    assert write_one(server, "s/purge", end, actor="officer")["version"] == version
    cut_off = 0
    while True:
        time.sleep(dice.uniform(0, 0.02))
        server.kill()
        server.start()
        if deleted_boards(server)["s/purge"]["done"]:
            break
        cut_off += 1
        refused(server, "get", "s/purge")
    assert cut_off >= 1, "the purge was over before the first kill: give it more rounds"
    assert expect_gone(server, "s/purge", version)["events"] == 1
    again = write_one(server, "s/purge", end, actor="officer")
    assert again["duplicate"] and again["version"] == version and again["error"] is None, again
    assert write_one(server, "s/purge", deltas[0], actor="filler")["error"]["code"] == "deleted"
    assert server.full("s/other")["state"] == {"a": 1}
    ledger = [json.loads(line) for line in server.tafel("erasures", "--json").splitlines()]
    assert [(each["board"], each["path"], each["done"]) for each in ledger] == [("s/purge", "$board", True)], ledger


def killed_at_the_commit(server, writers, rounds, seed):
    """The server is killed at about the moment of the deletion: either it was acknowledged and stands, or a resend decides."""
    dice = random.Random(seed)
    for turn in range(4):
        board = f"s/commit/{turn}"
        deltas = [{"incr": {"n": 1}} for _ in range(max(50, rounds // 10))]
        jobs = [Apply(server, board, deltas, f"w{i}", pipeline=8) for i in range(writers // 2)]
        wait_for(lambda: boards(server).get(board, 0) > 20)  # pylint: disable=cell-var-from-loop
        killer = threading.Thread(target=lambda: (time.sleep(dice.uniform(0, 0.05)), server.kill(), server.start()))
        deletion = Apply(server, board, [{"id": "the end", "ops": [{"op": "delete"}]}], "officer")
        killer.start()
        receipt = deletion.receipts()[0]  # sent again under its id until it is answered
        killer.join()
        assert receipt["error"] is None, receipt
        for job in jobs:
            for late in job.receipts():
                assert late["version"] < receipt["version"] or late["error"]["code"] == "deleted", late
        expect_gone(server, board, receipt["version"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the folder with tafeld and tafel")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    passed = failed = 0
    for run in (delete_under_writers, kills_during_the_purge, killed_at_the_commit):
        begin = time.monotonic()
        try:
            with Server(options.bin) as server:
                run(server, options.writers, options.rounds, options.seed)
            passed += 1
            print(f"ok   {run.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:  # every scenario gets its turn
            failed += 1
            print(f"FAIL {run.__name__}, seed {options.seed}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
