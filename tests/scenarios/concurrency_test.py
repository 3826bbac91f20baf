"""Many client processes at once on one board: sums and unions are exact, a compare-and-set has one winner, and a server that is killed
again and again loses no acknowledged delta and repeats none. Prints "N passed, M failed"."""
import argparse
import collections
import random
import sys
import threading
import time
import traceback

from processes import Apply, Server


def all_applied(receipts):
    return all(receipt["error"] is None for receipt in receipts)


def increments_add_up(server, clients, rounds):
    """Each client increments one counter; the sum and the versions are exact."""
    jobs = [Apply(server, "s/sum", [{"ops": [{"op": "incr", "path": "n"}]}] * rounds, f"c{i}", pipeline=32) for i in range(clients)]
    receipts = [receipt for job in jobs for receipt in job.receipts()]
    assert all_applied(receipts)
    assert server.full("s/sum")["state"] == {"n": clients * rounds}
    assert sorted(receipt["version"] for receipt in receipts) == list(range(1, clients * rounds + 1))


def additions_unite(server, clients, rounds):
    """Each client adds elements of its own and common ones to one set, from an old base; the union is exact."""
    deltas = {i: [{"base": 0, "ops": [{"op": "patch", "path": "s", "add": [f"{i}-{r}", f"共{r}"]}]} for r in range(rounds)]
              for i in range(clients)}
    jobs = [Apply(server, "s/union", deltas[i], f"c{i}", pipeline=32) for i in range(clients)]
    assert all(all_applied(job.receipts()) for job in jobs)
    expected = {element for each in deltas.values() for delta in each for element in delta["ops"][0]["add"]}
    found = server.full("s/union")["state"]["s"]
    assert len(found) == len(set(found)) and set(found) == expected


def one_winner_a_round(server, clients, rounds):
    """Every client tries every lock; each lock has exactly one winner, and the losers are shown who."""
    def tries(client):
        order = list(range(rounds))
        return [{"expect": {"fields": {f"lock.{r}": 0}}, "ops": [{"op": "set", "path": f"lock.{r}", "value": client}]} for r in order]
    jobs = {f"c{i}": Apply(server, "s/locks", tries(f"c{i}"), f"c{i}", pipeline=64) for i in range(clients)}
    winners = collections.defaultdict(list)
    for client, job in jobs.items():
        for r, receipt in enumerate(job.receipts()):
            if receipt["error"] is None:
                winners[r].append(client)
            else:
                assert receipt["error"]["code"] == "stale", receipt
    locks = server.full("s/locks")["state"]["lock"]
    assert len(winners) == rounds and all(len(w) == 1 for w in winners.values())
    assert all(locks[str(r)] == winners[r][0] for r in range(rounds))


def kills_lose_nothing(server, clients, rounds, kills, seed):
    """The server is killed while the clients write; they resend. What was acknowledged is there, and everything is there once."""
    dice = random.Random(seed)
    deltas = {i: [{"ops": [{"op": "incr", "path": "n"}, {"op": "append", "path": f"log.{i}", "value": r}]} for r in range(rounds)]
              for i in range(clients)}
    jobs = {i: Apply(server, "s/kills", deltas[i], f"c{i}", pipeline=16) for i in range(clients)}
    done = threading.Event()

    def slaughter():
        for _ in range(kills):
            if done.wait(dice.uniform(0.2, 0.8)):
                return
            server.kill()
            server.start()
            killed.append(time.monotonic())

    killed = []
    killer = threading.Thread(target=slaughter)
    killer.start()
    receipts = {i: job.receipts() for i, job in jobs.items()}
    done.set()
    killer.join()
    assert len(killed) == kills, f"the load was over after {len(killed)} of {kills} kills: give it more rounds"
    full = server.full("s/kills")
    assert full["state"]["n"] == clients * rounds, (full["state"]["n"], clients * rounds)
    versions = []
    for i in range(clients):
        assert all_applied(receipts[i]) and len(receipts[i]) == rounds
        assert full["state"]["log"][str(i)] == list(range(rounds)), f"the log of client {i} is not in order"
        versions += [receipt["version"] for receipt in receipts[i]]
    assert sorted(versions) == list(range(1, clients * rounds + 1))
    assert "defect" not in server.tafel("verify", "s/kills").replace('"defects":[]', "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the folder with tafeld and tafel")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    n, rounds = options.clients, options.rounds
    scenarios = {
        "increments_add_up": lambda server: increments_add_up(server, n, rounds),
        "additions_unite": lambda server: additions_unite(server, n, max(1, rounds // 10)),
        "one_winner_a_round": lambda server: one_winner_a_round(server, n, rounds),
        "kills_lose_nothing": lambda server: kills_lose_nothing(server, n, rounds, options.kills, options.seed),
    }
    passed = failed = 0
    for name, run in scenarios.items():
        begin = time.monotonic()
        try:
            with Server(options.bin) as server:
                run(server)
            passed += 1
            print(f"ok   {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:  # every scenario gets its turn
            failed += 1
            print(f"FAIL {name}, seed {options.seed}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
