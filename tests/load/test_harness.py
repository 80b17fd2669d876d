"""Tests of the harness's own arithmetic and files. Run: python -m unittest discover tests/load"""

import argparse
import http.server
import os
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import bench
import plot_main_figures
from harness import clients, context, goals, instruction_sets, machine, opus, peers, report
from harness.journal import Journal
from harness.levels import by_share, level
from harness.long_text import chapter
from scenarios import console, formats, metrics_cost, opus_peers, overload, pull, speech_peers

PAGE = """# HELP millrace_request_duration_seconds From arrival to the last reply.
# TYPE millrace_request_duration_seconds histogram
millrace_request_duration_seconds_bucket{model="m",method="Translate",le="1"} 90
millrace_request_duration_seconds_bucket{model="m",method="Translate",le="2.5"} 97
millrace_request_duration_seconds_bucket{model="m",method="Translate",le="+Inf"} 100
millrace_request_duration_seconds_bucket{model="other",method="Translate",le="+Inf"} 5000
millrace_compute_duration_seconds_bucket{model="m",le="0.05"} 3
millrace_compute_duration_seconds_bucket{model="m",le="0.1"} 10
millrace_compute_duration_seconds_bucket{model="m",le="0.25"} 10
millrace_compute_duration_seconds_bucket{model="m",le="+Inf"} 10
millrace_server_ready 1
"""


class PageHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, *_):
        pass


class JournalTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "x.journal"

    def test_resume_takes_up_what_was_finished_and_drops_a_cut_line(self):
        journal = Journal(self.path, {"repeats": 2}, resume=False)
        journal.put("a #1", {"rps": 1.5})
        with open(self.path, "a") as file:
            file.write('{"key": "a #2", "val')
        resumed = Journal(self.path, {"repeats": 2}, resume=True)
        self.assertEqual(resumed.get("a #1"), {"rps": 1.5})
        self.assertIsNone(resumed.get("a #2"))

    def test_entries_of_other_settings_are_not_mixed_in(self):
        Journal(self.path, {"repeats": 2}, resume=False).put("a #1", 1)
        self.assertIsNone(Journal(self.path, {"repeats": 3}, resume=True).get("a #1"))

    def test_without_resume_it_starts_anew(self):
        Journal(self.path, {}, resume=False).put("a #1", 1)
        self.assertIsNone(Journal(self.path, {}, resume=False).get("a #1"))


class InterleavedTest(unittest.TestCase):
    def test_every_other_repeat_runs_backwards(self):
        order = []
        fake = SimpleNamespace(repeats=3, settle=lambda: None, trial=lambda _key, run: run())
        results = context.interleaved(fake, ["a", "b"], lambda case: order.append(case) or {"x": len(order)})
        self.assertEqual(order, ["a", "b", "b", "a", "a", "b"])
        self.assertEqual(context.median(results["a"], "x"), 4)
        self.assertEqual(context.spread(results["a"], "x"), "1-5")


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.page = Path(self.folder.name) / "server.md"
        self.result = report.Result(title="T", about="A.", columns=["a"], rows=[["1"]],
                                    bars=[report.Bar("speed", "1", ">= 2", False)], command="run", others=0.5)

    def test_publishing_replaces_its_own_section_only(self):
        (self.page.parent / "build.md").write_text("no markers\n")
        self.page.write_text("x\n<!-- begin: a -->\nold\n<!-- end: a -->\ny\n<!-- begin: b -->\nkept\n<!-- end: b -->\n")
        report.publish(self.result, "a", self.page.parent, "..")
        report.publish(self.result, "a", self.page.parent, "..")
        text = self.page.read_text()
        self.assertNotIn("old", text)
        self.assertEqual(text.count("## T"), 1)
        self.assertIn("kept", text)
        self.assertIn("**not met**", text)
        self.assertIn("**Noisy** machine", text)

    def test_missing_markers_are_named(self):
        self.page.write_text("nothing\n")
        with self.assertRaisesRegex(SystemExit, "begin: a"):
            report.publish(self.result, "a", self.page.parent, "..")

    def test_a_saved_result_reads_back_equal(self):
        path = Path(self.folder.name) / "a.json"
        report.save(self.result, path)
        self.assertEqual(report.load(path), self.result)


class MainFiguresTest(unittest.TestCase):
    def test_each_figure_stands_in_its_section(self):
        drawn = plot_main_figures.panels()
        self.assertEqual(len(drawn), 5)
        self.assertEqual(plot_main_figures.missing(drawn, plot_main_figures.pages()), [])

    def test_a_figure_of_another_section_is_named(self):
        page = "# B\n\n## One\n\n| a | 7 | 1,234 |\n\n## Two\n\n| b | 34 |\n"
        drawn = [{"section": "One", "bars": [["a", "1,234"], ["b", "34"]]}, {"section": "Two", "bars": [["b", "34"]]},
                 {"section": "Three", "bars": [["c", "7"]]}]
        self.assertEqual(plot_main_figures.missing(drawn, page), [("One", "34"), ("Three", "7")])


class GoalsTest(unittest.TestCase):
    TABLE = "| Goal | Limit | Measured | | Machine, date | Details |\n|---|---|---|---|---|---|\n"

    def test_figures_and_dates_stand_in_the_sections_that_they_link_to(self):
        for page in (Path(__file__).resolve().parents[2] / "BENCHMARKS.md", *sorted(plot_main_figures.BENCHMARKS.glob("*.md"))):
            with self.subTest(page=page.name):
                self.assertEqual(goals.unsupported(page), [])

    def test_each_missed_goal_is_on_the_first_page(self):
        first = (Path(__file__).resolve().parents[2] / "BENCHMARKS.md").read_text()
        for page in sorted(plot_main_figures.BENCHMARKS.glob("*.md")):
            rows = [line.split(" | ") for line in page.read_text().split("\n## ")[1].split("\n")]
            missed = [cells for cells in rows if len(cells) == 6 and "not met" in cells[3]]
            self.assertEqual([cells[0] for cells in missed if f"| {cells[2]} |" not in first], [], page.name)

    def test_a_figure_that_its_section_lacks_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            page, other = Path(folder) / "a.md", Path(folder) / "b.md"
            other.write_text("# B\n\n## Two\n\n8.5, 2026-11-22\n")
            page.write_text("# A\n\n## Goals\n\n" + self.TABLE +
                            "| speed | >= 2 | 3.5x | met | A, 2026-11-22 | [one](#one-two) |\n"
                            "| size | <= 9 | 1,234 | met | A, 2026-11-23 | same |\n"
                            "| other | <= 9 | 77 | met | | `command` |\n"
                            "| far | <= 9 | 8.5, 3.5 | met | A, 2026-11-22 | [`x`](b.md#two) |\n"
                            "| gone | <= 9 | 6 | met | | [`x`](b.md#three) |\n\n## One: two\n\n3.5 and 234, 2026-11-22\n")
            self.assertEqual(goals.unsupported(page), [("size", "1,234"), ("size", "2026-11-23"), ("far", "3.5"), ("gone", "6")])


class MetricsPageTest(unittest.TestCase):
    def setUp(self):
        server = http.server.HTTPServer(("127.0.0.1", 0), PageHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.page = clients.scrape(SimpleNamespace(ports={"metrics": server.server_port}))

    def test_values_without_labels(self):
        self.assertEqual(self.page["millrace_server_ready"], {(): 1})

    def test_late_answers_and_longest_batch(self):
        case = {"model": "m", "rpc": "Translate"}
        self.assertEqual(overload.longer_than(self.page, case, 2.5), (3, 0.1))
        self.assertEqual(overload.longer_than(self.page, case, 1), (10, 0.1))


class ConfidenceTest(unittest.TestCase):
    def test_interval_holds_the_median_and_narrows_to_equal_values(self):
        low, high = metrics_cost.confidence([0.9, 1.0, 1.1, 1.0, 0.95])
        self.assertTrue(0.9 <= low <= 1.0 <= high <= 1.1)
        self.assertEqual(metrics_cost.confidence([1.0] * 5), (1.0, 1.0))


class LevelsTest(unittest.TestCase):
    def test_a_sample_is_of_the_share_that_was_done_at_its_time(self):
        samples = [(0.0, 10), (1.0, 20), (2.0, 30), (9.0, 40)]
        self.assertEqual(by_share(samples, [(0.5, 0.1), (1.0, 0.2), (1.9, 0.3), (3.0, 1.0)]),
                         [(0.0, 10), (0.2, 20), (0.3, 30), (1.0, 40)])
        self.assertEqual(by_share(samples[:1], []), [(0.0, 10)])

    def test_a_level_is_the_median_of_its_stretch(self):
        samples = [(0.0, 1), (0.1, 5), (0.15, 7), (0.2, 100), (0.5, 1)]
        self.assertEqual(level(samples, 0.1, 0.2), 7)


class ChapterTest(unittest.TestCase):
    def test_a_chapter_has_the_length_that_was_asked_for_and_is_equal_for_equal_seeds(self):
        for characters in (1000, 100_000):
            text = chapter(characters)
            self.assertLessEqual(len(text), characters)
            self.assertGreater(len(text), characters - 200)
            self.assertEqual(text, chapter(characters))
        self.assertNotEqual(chapter(1000), chapter(1000, seed=2))


class PeersTest(unittest.TestCase):
    def settings(self, *scenarios, full=False):
        return SimpleNamespace(args=SimpleNamespace(scenarios=list(scenarios), full=full))

    def test_packages_of_gigabytes_are_only_for_who_asks(self):
        with mock.patch.object(peers, "installed", return_value=False):
            self.assertFalse(speech_peers.packages_wanted(self.settings()))
            self.assertFalse(speech_peers.packages_wanted(self.settings("null")))
            self.assertTrue(speech_peers.packages_wanted(self.settings("speech-peers")))
            self.assertTrue(speech_peers.packages_wanted(self.settings(full=True)))
        with mock.patch.object(peers, "installed", return_value=True):
            self.assertTrue(speech_peers.packages_wanted(self.settings()))

    def test_an_installer_that_fails_is_a_failed_load(self):
        with mock.patch.object(peers.subprocess, "run", return_value=SimpleNamespace(returncode=1)):
            with self.assertRaisesRegex(clients.LoadFailed, "peer kokoro"):
                peers.python("kokoro")

    def test_a_row_is_compared_with_as_many_calls_at_once(self):
        rates = {f"Piper: {kind}": rate for kind, rate in
                 ((speech_peers.OURS, 80), (speech_peers.OURS_ALONE, 40), ("piper's own runtime, 1 at once", 10), ("onnxruntime", 20))}
        result = [{"audio_rate": 1, "cpu_per_audio_s": 1, "audio_seconds": 1}]
        for case, ratio in (("Piper: piper's own runtime, 1 at once", "4.00x"), ("Piper: onnxruntime", "4.00x")):
            self.assertEqual(speech_peers.row(case, result, rates)[-1], ratio)


class ConsoleTest(unittest.TestCase):
    def test_growth_is_from_the_first_quarter_to_the_last(self):
        self.assertAlmostEqual(console.growth([100, 100, 500, 100, 90, 110, 110, 130]), 0.2)
        self.assertEqual(console.growth([100]), 0)


class PullTest(unittest.TestCase):
    def test_goals_are_of_the_medians_and_memory_is_compared_with_the_file(self):
        command = {"s": 2.0, "cpu_s": 1.5, "peak_mib": 100}
        trials = {"newcomer": [{"s": 9, "ready_s": 8}, {"s": 11, "ready_s": 8}, {"s": 30, "ready_s": 8}], pull.ADD: [command], pull.PULL: [command],
                  pull.KOKORO: [command | {"s": 21, "peak_mib": 1024}], "ten": [{"rss": 500, "load_s": 0.2}]}
        result = pull.result_of(trials, voice_bytes=40 << 20, pair_bytes=30_000_000)
        self.assertEqual([(bar.measured, bar.met) for bar in result.bars], [
            ("11.0 s", True), ("1.5 s", True), ("2.50x", False), ("21.0 s", False), ("1.00 GiB", True), ("500 MiB", False), ("0.20 s", True)])
        self.assertEqual([row[1] for row in result.rows], ["11.0", "2.0", "2.0", "21.0"])

    def test_a_command_that_fails_is_a_failed_load(self):
        with self.assertRaisesRegex(clients.LoadFailed, "-c ended with status 3: why"):
            pull.measured(["sh", "-c", "echo why; exit 3"], os.environ)

    def test_the_time_and_memory_of_a_command_are_those_of_its_children_too(self):
        held = bytearray(300 << 20)   # of this process, which does not count
        found = pull.measured(["sh", "-c", f"{sys.executable} -c 'x = bytearray(150 << 20)'; true"], os.environ)
        self.assertTrue(150 < found["peak_mib"] < 300, found)
        self.assertEqual(len(held), 300 << 20)
        self.assertGreater(found["cpu_s"], 0)


class InstructionSetsTest(unittest.TestCase):
    def test_peers_are_limited_by_their_own_variables(self):
        with mock.patch.dict(os.environ, {"ATEN_CPU_CAPABILITY": "avx512"}):
            instruction_sets.limit_peers("avx2")
            self.assertEqual((os.environ["ATEN_CPU_CAPABILITY"], os.environ["CT2_FORCE_CPU_ISA"]), ("avx2", "AVX2"))

    def test_a_limited_run_has_names_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            args = bench.parse_arguments(["null", "--cpu-isa", "avx2", "--out", folder, "--build", folder])
            limited = context.Context("null-avx2", SimpleNamespace(SHORT={"repeats": 1, "seconds": 1}), args)
            self.assertEqual(limited.plot("null.png").name, "null-avx2.png")
            self.assertEqual(limited.server_flags, ["--cpu-isa", "avx2"])

    def test_bfloat16_is_measured_only_where_the_daemon_takes_it(self):
        for isa, flags, taken in ((None, {"avx512_bf16"}, True), ("avx512", {"avx512_bf16"}, True), ("avx2", {"avx512_bf16"}, False), ("avxvnni", {"avx512_bf16"}, False),
                                  (None, {"avx2"}, False)):
            self.assertEqual(instruction_sets.multiplies_bfloat16(isa, flags), taken)


class OpusTest(unittest.TestCase):
    def test_requests_are_mixed_single_sentences_and_the_same_each_time(self):
        sentences = opus._sentences()
        self.assertEqual(sentences, opus._sentences())
        self.assertEqual(len(sentences), opus.REQUESTS)
        lengths = [len(sentence.split()) for sentence in sentences]
        self.assertEqual((min(lengths), max(lengths)), (5, 40))
        self.assertTrue(all(sentence.endswith(".") and sentence.count(".") == 1 for sentence in sentences))

    def test_tokens_are_those_of_the_first_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            lengths = Path(folder) / "lengths.txt"
            lengths.write_text("5\n7\n11\n")
            self.assertEqual(opus.Opus(Path(), {}, Path(), lengths, Path()).tokens(2), 12)

    def test_bars_compare_with_the_better_case_of_as_many_requests(self):
        rates = {case: 1000 if callers == 32 else 1500 for case, (_, callers, _) in opus_peers.OURS.items()}
        rates |= {case: {"32 callers": 100, "one call, 32 at work": 800, "one call, 64 at work": 1200}[case.split(", ", 2)[2]]
                  for case in opus_peers.CTRANSLATE2}
        rates[opus_peers.TRANSFORMERS] = 400
        bars = opus_peers.bars_of(rates, differ=1)
        self.assertEqual([bar.measured for bar in bars], ["1.25x", "1.25x", "1.25x", "1.25x", "2.50x", "1"])
        self.assertEqual([bar.met for bar in bars], [False, None, True, None, False, False])


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "log"

    def test_answers_come_back_in_order(self):
        runner = formats.Runner(["sh", "-c", "while read frames threads rest; do echo $frames $threads; done"], self.log)
        self.addCleanup(runner.stop)
        runner.begin(40, 1, "in")
        runner.begin(80, 2, "in")
        self.assertEqual([runner.end(), runner.end()], [(40, 1), (80, 2)])

    def test_a_process_that_ended_is_named(self):
        runner = formats.Runner(["sh", "-c", "exit 3"], self.log)
        self.addCleanup(runner.stop)
        with self.assertRaisesRegex(clients.LoadFailed, "sh ended with status 3"):
            runner.end()


@unittest.skipUnless(Path("/proc/self/smaps_rollup").exists(), "needs Linux's /proc")
class MachineTest(unittest.TestCase):
    def test_command_is_kept_on_the_cpus_of_a_list(self):
        with mock.patch.object(machine, "all_cpus", return_value={0, 1, 2, 3, 4, 5}):
            cpus = machine.parse_cpus("0-2,4")
            self.assertEqual(machine.on_cpus(["run"], cpus), ["taskset", "--cpu-list", "0,1,2,4", "run"])
            for text in ("0-5", "6", "0,x"):
                with self.assertRaises((ValueError, argparse.ArgumentTypeError)):
                    machine.parse_cpus(text)
        self.assertEqual(machine.on_cpus(["run"], None), ["run"])

    def test_cpu_of_a_process_and_its_children(self):
        before = machine.cpu_seconds(os.getpid())
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        self.assertAlmostEqual(machine.cpu_seconds(os.getpid()) - before, 0.2, delta=0.05)

    def test_anonymous_memory_is_what_was_written_and_of_no_file(self):
        before = machine.anonymous_mb(os.getpid())
        block = b"x" * 50_000_000
        self.assertAlmostEqual(machine.anonymous_mb(os.getpid()) - before, len(block) / 1e6, delta=2)

    def test_memory_figures_are_consistent(self):
        memory = machine.memory_mib(os.getpid())
        self.assertLessEqual(memory["private"], memory["pss"] + 0.1)
        self.assertLessEqual(memory["pss"], memory["rss"] + 0.1)
        self.assertAlmostEqual(machine.resident_mib(os.getpid()), memory["rss"], delta=5)


if __name__ == "__main__":
    unittest.main()
