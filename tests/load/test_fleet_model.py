"""Tests of the simulated fleet against what queueing theory knows. Run: python -m unittest discover tests/load"""

import unittest

from harness.fleet_model import Fleet, Outage, rolling_restart


class FleetModelTest(unittest.TestCase):
    def test_one_replica_waits_as_theory_says(self):
        # M/M/1: the mean time until the answer is 1 / (1 - load).
        outcome = Fleet("round robin", 1, load=0.5).run(40_000)
        mean = sum(taken for _, taken in outcome.answered) / len(outcome.answered)
        self.assertAlmostEqual(mean, 2.0, delta=0.15)

    def test_every_request_is_answered(self):
        outcome = Fleet("two choices", 5, load=0.9, permits=2, balancers=3).run(5_000)
        self.assertEqual((len(outcome.answered), outcome.failed, outcome.retries), (5_000, 0, 0))

    def test_two_choices_wait_less_than_round_robin(self):
        p99 = {policy: Fleet(policy, 10, load=0.8).run(20_000).quantile(0.99) for policy in ("round robin", "two choices")}
        self.assertLess(p99["two choices"], 0.8 * p99["round robin"])

    def test_planned_restart_loses_and_repeats_nothing(self):
        outcome = Fleet("two choices", 4, load=0.5, outages=rolling_restart(4, 10, 20)).run(400)
        self.assertEqual((len(outcome.answered), outcome.failed, outcome.retries), (400, 0, 0))

    def test_crash_repeats_what_was_lost(self):
        crash = Outage(range(1), 10, 60, planned=False, unnoticed=5)
        outcome = Fleet("two choices", 4, load=0.5, outages=[crash]).run(400)
        self.assertEqual(len(outcome.answered) + outcome.failed, 400)
        self.assertGreater(outcome.retries, 0)

    def test_nobody_answers_while_all_are_gone(self):
        crash = Outage(range(2), 10, 20, planned=False, unnoticed=0)
        outcome = Fleet("round robin", 2, load=0.5, outages=[crash]).run(100)
        self.assertGreater(outcome.failed, 0)
        self.assertTrue(all(not 10 < arrived < 20 for arrived, _ in outcome.answered))

    def test_unknown_policy_is_refused_by_name(self):
        with self.assertRaisesRegex(ValueError, "'random'.*two choices"):
            Fleet("random", 2, load=0.5)


if __name__ == "__main__":
    unittest.main()
