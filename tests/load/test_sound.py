"""Tests of what samples.py measures. Run, with NumPy: python -m unittest discover tests/load"""

import unittest

import numpy as np
from harness import sound


class SoundTest(unittest.TestCase):
    RATE = 16000

    def tone(self, hertz, seconds, level=0.3):
        t = np.arange(int(seconds * self.RATE)) / self.RATE
        # With overtones, as a voice has them: the second is the strongest.
        return level * (0.5 * np.sin(2 * np.pi * hertz * t) + np.sin(4 * np.pi * hertz * t) + 0.3 * np.sin(6 * np.pi * hertz * t)) / 1.8

    def sound(self, *parts):
        return sound.Sound(np.concatenate(parts), self.RATE)

    def test_pitch_is_the_ground_tone(self):
        for hertz in (80, 120, 220, 400):
            self.assertAlmostEqual(sound.measure(self.sound(self.tone(hertz, 1)))["pitch_hz"], hertz, delta=0.02 * hertz)

    def test_noise_has_no_pitch(self):
        noise = np.random.default_rng(1).normal(0, 0.1, self.RATE)
        self.assertLess(len(sound.pitches(self.sound(noise))), 5)

    def test_silences_are_found_where_they_are(self):
        quiet = lambda seconds: np.zeros(int(seconds * self.RATE))  # noqa: E731
        figures = sound.measure(self.sound(quiet(0.5), self.tone(200, 1), quiet(0.8), self.tone(200, 0.5), quiet(0.3)))
        self.assertAlmostEqual(figures["silence_before_s"], 0.5, delta=0.05)
        self.assertAlmostEqual(figures["silence_after_s"], 0.3, delta=0.05)
        self.assertAlmostEqual(figures["longest_pause_s"], 0.8, delta=0.06)

    def test_clipped_samples_and_level(self):
        figures = sound.measure(self.sound(np.clip(2 * np.sin(2 * np.pi * 100 * np.arange(self.RATE) / self.RATE), -1, 1)))
        self.assertGreater(figures["clipped"], self.RATE // 2)
        self.assertEqual(figures["peak"], 1)
        half = sound.measure(self.sound(np.full(self.RATE, 0.5)))
        self.assertAlmostEqual(half["level_db"], -6.02, delta=0.01)
        self.assertEqual(half["clipped"], 0)

    def test_log_mel_distance_is_that_of_the_levels(self):
        tone = self.tone(200, 1)
        self.assertEqual(sound.log_mel_distance(self.sound(tone), self.sound(tone)), 0)
        noise = np.random.default_rng(1).normal(0, 0.1, self.RATE)
        self.assertAlmostEqual(sound.log_mel_distance(self.sound(noise), self.sound(noise / 2)), 6.02, delta=0.01)
        self.assertGreater(sound.log_mel_distance(self.sound(tone), self.sound(self.tone(300, 1))), 3)

    def test_a_click_of_a_few_samples_is_measured_too(self):
        self.assertEqual(sound.measure(self.sound(np.array([0.1, -0.1])))["pitch_hz"], 0)


if __name__ == "__main__":
    unittest.main()
