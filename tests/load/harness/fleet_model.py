"""A simulation of replicas behind a balancer: requests arrive at random, wait in the queue of the replica that they are sent to, and are served one
after the other by each of its permits. Time is in mean service times."""

import heapq
import random
from collections import deque
from dataclasses import dataclass, field

POLICIES = ("round robin", "two choices")
ATTEMPTS = 4
# Draws of another replica than those that failed a request, as Envoy's host_selection_retry_max_attempts.
DRAWS = 5


@dataclass(frozen=True)
class Outage:
    """Replicas that are away for a time. A planned one lets what it has finish; a crash loses it, and balancers notice only after `unnoticed`."""
    replicas: range
    start: float
    end: float
    planned: bool
    unnoticed: float = 0.0


@dataclass
class _Replica:
    busy: int = 0
    queue: deque = field(default_factory=deque)
    runs: dict = field(default_factory=dict)   # request -> None, in the order of their starts
    up: bool = True          # answers
    offered: bool = True     # balancers send to it
    life: int = 0            # a completion of an earlier life is void


@dataclass(frozen=True)
class Outcome:
    """(arrival, time until the answer) of each request that was answered; how many were not, and how often one was sent again."""
    answered: list
    failed: int
    retries: int

    def quantile(self, share, start=0.0, end=float("inf")):
        """Of the requests that came between two times."""
        times = sorted(taken for arrived, taken in self.answered if start <= arrived < end)
        return times[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


class Fleet:
    """One run. `balancers` share the arrivals evenly; each knows only the requests that it has sent itself."""

    def __init__(self, policy, replicas, *, load, permits=1, balancers=1, outages=(), seed=1):
        if policy not in POLICIES:
            raise ValueError(f"policy '{policy}': allowed are {', '.join(POLICIES)}")
        self._policy, self._permits = policy, permits
        self._replicas = [_Replica() for _ in range(replicas)]
        self._offered = list(range(replicas))
        self._sent = [[0] * replicas for _ in range(balancers)]   # requests in flight, by balancer
        self._next = [0] * balancers
        self._arrivals = load * replicas * permits
        self._random = random.Random(seed)
        self._events = []
        self._order = 0
        self._retries = self._failed = 0
        self._answered = []
        for outage in outages:
            self._at(outage.start, self._begin, outage)
            self._at(outage.start + (0 if outage.planned else outage.unnoticed), self._notice, outage)
            self._at(outage.end, self._finish, outage)

    def run(self, requests):
        self._left = requests
        self._at(0.0, self._arrive, 0)
        while self._events:
            self._now, _, what, about = heapq.heappop(self._events)
            what(about)
        return Outcome(self._answered, self._failed, self._retries)

    def _at(self, time, what, about):
        self._order += 1
        heapq.heappush(self._events, (time, self._order, what, about))

    def _arrive(self, number):
        self._send((self._now, number % len(self._sent), number), 1)
        if number + 1 < self._left:
            self._at(self._now + self._random.expovariate(self._arrivals), self._arrive, number + 1)

    def _pick_untried(self, balancer, tried):
        for _ in range(DRAWS):
            index = self._pick(balancer)
            if index not in tried:
                break
        return index

    def _pick(self, balancer):
        if len(self._offered) == 1:
            return self._offered[0]
        if self._policy == "round robin":
            self._next[balancer] += 1
            return self._offered[self._next[balancer] % len(self._offered)]
        one, other = self._random.sample(self._offered, 2)
        sent = self._sent[balancer]
        return one if sent[one] <= sent[other] else other

    def _send(self, request, attempt, tried=()):
        while attempt <= ATTEMPTS and self._offered:
            index = self._pick_untried(request[1], tried)
            tried = (*tried, index)
            replica = self._replicas[index]
            if replica.up:
                self._sent[request[1]][index] += 1
                job = (request, attempt)
                if replica.busy < self._permits:
                    self._serve(index, job)
                else:
                    replica.queue.append(job)
                return
            attempt += 1
            self._retries += 1
        self._failed += 1

    def _serve(self, index, job):
        replica = self._replicas[index]
        replica.busy += 1
        replica.runs[job] = None
        self._at(self._now + self._random.expovariate(1.0), self._complete, (index, replica.life, job))

    def _complete(self, about):
        index, life, job = about
        replica = self._replicas[index]
        if life != replica.life:
            return
        replica.busy -= 1
        del replica.runs[job]
        request, _ = job
        self._sent[request[1]][index] -= 1
        self._answered.append((request[0], self._now - request[0]))
        if replica.queue:
            self._serve(index, replica.queue.popleft())

    def _begin(self, outage):
        if outage.planned:
            return   # it goes on with what it has
        for index in outage.replicas:
            replica = self._replicas[index]
            lost = [*replica.runs, *replica.queue]
            replica.up, replica.busy, replica.life = False, 0, replica.life + 1
            replica.runs.clear()
            replica.queue.clear()
            for request, attempt in lost:
                self._sent[request[1]][index] -= 1
                self._retries += 1
                self._send(request, attempt + 1, (index,))

    def _notice(self, outage):
        for index in outage.replicas:
            self._replicas[index].offered = False
        self._list()

    def _finish(self, outage):
        for index in outage.replicas:
            self._replicas[index].up = self._replicas[index].offered = True
        self._list()

    def _list(self):
        self._offered = [index for index, replica in enumerate(self._replicas) if replica.offered]


def rolling_restart(replicas, start, away, at_once=1):
    """Each replica is away once, so many at a time, the next ones when the last are back."""
    steps = range(0, replicas, at_once)
    return [Outage(range(first, min(first + at_once, replicas)), start + i * away, start + (i + 1) * away, planned=True) for i, first in enumerate(steps)]
