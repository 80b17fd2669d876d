"""A long English text of sentences that nobody has written: as many characters as a chapter of a book has."""

import random

_PEOPLE = ["the miller", "her sister", "an old sailor", "Dr. Harding", "the schoolmaster", "Mrs. Lowe", "the younger brother",
           "a stranger in a grey coat", "the gardener", "my aunt", "the captain", "the woman at the window"]
_PLACES = ["behind the church", "at the edge of the marsh", "on the bridge", "in the kitchen", "beside the empty house",
           "near the harbour", "under the chestnut trees", "along the coast road", "in the upper room", "by the mill"]
_DEEDS = ["waited", "lit a lantern", "counted the boats", "read the letter twice", "closed the shutters", "listened to the rain",
          "mended a net", "said nothing at all", "looked for the key", "began to laugh", "hid the money", "drew a map"]
_TIMES = ["In the morning", "Late in the autumn of 1867", "At half past four", "After the storm", "On the third day",
          "Before anybody else was awake", "Towards evening", "When the clock struck nine"]
_REASONS = ["because the road was flooded", "although it was nearly dark", "as if it had been agreed long ago",
            "for the ferry had not come back", "while the dogs barked somewhere across the valley",
            "since 12 shillings were more than anyone had", "until the last of the carts had passed"]
_WORDS = ["I never asked for it", "You will remember this", "There is no bridge there any more", "Who told you that",
          "It was only the wind", "We ought to go home", "Nobody has lived there for years"]
_ENDS = [".", ".", "!", "?"]


def _sentence(chance):
    pick = chance.choice
    kind = chance.randrange(5)
    if kind == 0:
        return f"{pick(_TIMES)} {pick(_PEOPLE)} {pick(_DEEDS)} {pick(_PLACES)}."
    if kind == 1:
        return f"{pick(_TIMES)}, {pick(_REASONS)}, {pick(_PEOPLE)} and {pick(_PEOPLE)} {pick(_DEEDS)}; then one of them {pick(_DEEDS)}."
    if kind == 2:
        return f"\"{pick(_WORDS)}{pick(_ENDS)}\""
    if kind == 3:
        return f"\"{pick(_WORDS)},\" said {pick(_PEOPLE)}, and {pick(_DEEDS)} {pick(_PLACES)}, {pick(_REASONS)}."
    deed = pick(_DEEDS)
    return f"Nobody {deed}."


def chapter(characters, seed=1):
    """Paragraphs of whole sentences, at most so many characters and at most 200 fewer. Equal for equal seeds."""
    chance = random.Random(seed)
    text = ""
    while True:
        sentence = _sentence(chance)
        space = "\n\n" if text and chance.randrange(8) == 0 else " " if text else ""
        if len(text) + len(space) + len(sentence) > characters:
            return text
        text += space + sentence
