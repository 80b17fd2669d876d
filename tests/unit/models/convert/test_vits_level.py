import unittest

from models.convert.vits_level import gain_of


class GainOf(unittest.TestCase):
    def test_the_middle_sentence_peaks_below_full_scale(self):
        self.assertEqual(gain_of([0.1, 0.45, 0.9]), 6.0)
        self.assertEqual(gain_of([0.9]), 0.0)

    def test_it_stays_within_what_a_model_may_ask_for(self):
        self.assertEqual(gain_of([1.2]), 0.0)     # never quieter than the network
        self.assertEqual(gain_of([0.0]), 20.0)


if __name__ == "__main__":
    unittest.main()
