"""Starts and stops the servers that are measured, each on loopback, in a folder of its own, with durable settings.

One class per system. `start` gives back when the server answers; `stop` ends it and removes the folder.
"""
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PATIENCE_S = 30


class Unavailable(Exception):
    """The system cannot be measured here; the message says why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(*names):
    """The first of these programs that is there; a name with a slash is a file."""
    for name in names:
        found = name if "/" in name and os.access(name, os.X_OK) else shutil.which(name)
        if found:
            return found
    raise Unavailable(f"{names[0]} is not installed")


def version_of(command):
    output = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+\.\d+(\.\d+)?", output)
    return found.group() if found else output.strip()


class Server:
    """What the systems have in common."""
    name = ""
    settings = ""        # in words, for the report
    variants = ()        # names of the peers that it is measured as
    stop_signal = signal.SIGTERM

    def __init__(self, bin_folder, work_folder):
        self.bin = pathlib.Path(bin_folder)
        self.work = pathlib.Path(work_folder)
        self.process = None
        self.folder = None
        self.port = 0
        self.version = self.find()

    def find(self):
        """Finds the program and gives back its version."""
        raise NotImplementedError

    def command(self):
        raise NotImplementedError

    def prepare(self):
        """Whatever the folder needs before the server starts."""

    def load(self, peer):
        """The load program with the arguments that aim it at this server."""
        return [str(self.bin / "tafel-peer-bench"), "--peer", peer, "--port", str(self.port)]

    def start(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=self.work))
        self.port = free_port()
        try:
            self.prepare()
            with open(self.folder / "server.log", "wb") as log:
                self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            self.wait_until_it_answers()
        except BaseException:
            self.stop()
            raise

    def wait_until_it_answers(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        log = (self.folder / "server.log").read_text(errors="replace")
        raise Unavailable(f"{self.name} did not start: {log[-500:]}")

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


class Tafel(Server):
    name = "tafel"
    settings = "as shipped: each batch is on disk before its receipts"
    variants = ("tafel",)

    def find(self):
        self.program = program(str(self.bin / "tafeld"))
        program(str(self.bin / "tafel-bench"))
        return version_of([self.program])

    def command(self):
        return [self.program, "--data", str(self.folder / "data"), "--listen", f"tcp://127.0.0.1:{self.port}"]

    def load(self, peer):
        return [str(self.bin / "tafel-bench"), "--server", f"tcp://127.0.0.1:{self.port}"]


class Redis(Server):
    name = "redis"
    settings = ("`appendonly yes`, `appendfsync always`, no RDB, no AOF rewrite, no limit on the output to subscribers; "
                "`redis-lua`: one EVALSHA an update, `redis-multi`: the same commands in MULTI and EXEC")
    variants = ("redis-lua", "redis-multi")

    def find(self):
        self.program = program("redis-server")
        program(str(self.bin / "tafel-peer-bench"))
        return version_of([self.program])

    def command(self):
        return [self.program, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder),
                "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--auto-aof-rewrite-percentage", "0",
                "--client-output-buffer-limit", "pubsub 0 0 0"]


class Postgres(Server):
    name = "postgres"
    settings = ("`synchronous_commit=on`, `fsync=on`, `wal_sync_method=fdatasync`, 1 GB of buffers, no checkpoint in the "
                "window; one function call an update on normalised rows, writers queue on an advisory lock, NOTIFY")
    variants = ("postgres",)
    stop_signal = signal.SIGQUIT  # at once: what it holds is thrown away

    def find(self):
        self.program = program("/usr/lib/postgresql/15/bin/postgres", "postgres")
        self.initdb = program("/usr/lib/postgresql/15/bin/initdb", "initdb")
        return version_of([self.program])

    def as_user(self):
        """PostgreSQL does not run as root."""
        if os.geteuid() != 0:
            return []
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]

    def prepare(self):
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        subprocess.run([*self.as_user(), self.initdb, "--pgdata", str(self.folder / "data"), "--username", "postgres",
                        "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"],
                       check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def command(self):
        options = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "",
                   "fsync": "on", "synchronous_commit": "on", "wal_sync_method": "fdatasync",
                   "shared_buffers": "1GB", "checkpoint_timeout": "1h", "max_wal_size": "16GB", "max_connections": 200}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        return [*self.as_user(), self.program, "-D", str(self.folder / "data"), *words]

    def wait_until_it_answers(self):
        super().wait_until_it_answers()
        end = time.monotonic() + PATIENCE_S
        while "ready to accept connections" not in (self.folder / "server.log").read_text(errors="replace"):
            if time.monotonic() > end:
                raise Unavailable("postgres listens, but does not become ready")
            time.sleep(0.02)


class Nats(Server):
    name = "nats"
    settings = ("JetStream, file store; its folder has the synchronous-update attribute (`chattr +S`), since this version "
                "does not flush before it acknowledges. A log only: no set and no field is kept, so it does less than the work")
    variants = ("nats",)

    def find(self):
        self.program = program("nats-server")
        program(str(self.bin / "tafel-peer-bench"))
        return version_of([self.program])

    def prepare(self):
        store = self.folder / "store"
        store.mkdir()
        done = subprocess.run(["chattr", "+S", str(store)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unavailable(f"the store cannot be made synchronous: {done.stderr.strip()}")

    def command(self):
        return [self.program, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder / "store")]


class Etcd(Server):
    name = "etcd"
    settings = ("one node, defaults, quota of 8 GiB; one Txn an update (put, delete, put, put), a channel for each agent, a "
                "Watch for each subscriber")
    variants = ("etcd",)

    def find(self):
        self.program = program("etcd")
        program(str(self.bin / "tafel-peer-bench"))
        return version_of([self.program])

    def command(self):
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        return [self.program, "--data-dir", str(self.folder / "data"), "--listen-client-urls", client,
                "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", f"default={peer}", "--quota-backend-bytes", str(8 << 30), "--logger", "zap",
                "--log-level", "warn"]


SERVERS = [Tafel, Redis, Postgres, Nats, Etcd]
