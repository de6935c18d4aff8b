"""Regular expressions on generated patterns and texts, compared with DataFusion, whose syntax they have.

The difference that is meant is in `explained` with its reason; any other fails. REGEXP_SEED and REGEXP_CASES
choose others and more.
"""

import json
import os
import pathlib
import random
import subprocess
import unittest

import pyarrow as pa

try:
    import datafusion
except ImportError as error:
    raise unittest.SkipTest(f"DataFusion is not installed here: {error}") from error

HERE = pathlib.Path(__file__).parent
SEED = int(os.environ.get("REGEXP_SEED", "1"))
CASES = int(os.environ.get("REGEXP_CASES", "600"))

LETTERS = ["a", "b", "c", "A", "k", "K", "s", "ß", "é", "ſ", "\u212a", "٣", "4", "_", "-", " ", "\n", "😀"]
ATOMS = [
    *"abckKsß4_",
    "é",
    "ſ",
    "٣",
    "😀",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "[abc]",
    "[^ab]",
    "[a-c4]",
    "[[:alpha:]]",
    "[[:^digit:]]",
    "[\\w--a]",
    "[a-k&&[^b]]",
    "\\p{L}",
    "\\p{Lu}",
    "\\P{Greek}",
    "\\x61",
    "\\u{e9}",
]
EDGES = ["^", "$", "\\b", "\\B", "\\A", "\\z"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"]
#: What is no pattern: syntax that is not Rust's, and syntax that is cut off.
BROKEN = ["(", "a)", "[a", "a{2", "*a", "(?=a)", "(a)\\1", "a++", "\\p{Nope}", "(?<n", "\\", "[b-a]", "(?P>x)", "a{3,2}"]
FLAGS = ["", "", "", "i", "m", "s", "U", "im", "is"]
TEMPLATES = ["<$0>", "<${1}>", "\\1-", "", "$$", "[$0$0]"]


def pattern(draw, depth=0):
    kind = draw.random()
    if depth > 3 or kind < 0.35:
        return draw.choice(ATOMS)
    if kind < 0.45:
        return draw.choice(EDGES)
    if kind < 0.60:
        return f"({pattern(draw, depth + 1)})"
    if kind < 0.66:
        return f"(?:{pattern(draw, depth + 1)}|{pattern(draw, depth + 1)})"
    if kind < 0.69:
        return f"(?{draw.choice('imsU')}:{pattern(draw, depth + 1)})"
    if kind < 0.80:
        inner = pattern(draw, depth + 1)
        return f"(?:{inner}){draw.choice(QUANTIFIERS)}"
    return "".join(pattern(draw, depth + 1) for _ in range(draw.randint(2, 3)))


def cases():
    draw = random.Random(SEED)
    texts = [""] + ["".join(draw.choices(LETTERS, k=draw.randint(1, 8))) for _ in range(60)]
    made = [
        {"pattern": pattern(draw), "flags": draw.choice(FLAGS), "template": draw.choice(TEMPLATES)}
        for _ in range(CASES)
    ]
    made += [{"pattern": one, "flags": "", "template": ""} for one in BROKEN]
    return texts, made


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def asked(context, case):
    """What DataFusion gives in each row, or why it refuses. It takes no empty flags."""
    given = f"s, {literal(case['pattern'])}"
    template, every = literal(case["template"]), literal(case["flags"] + "g")
    flags = f", {literal(case['flags'])}" if case["flags"] else ""
    query = (
        f"SELECT regexp_like({given}{flags}) AS like, regexp_match({given}{flags}) AS match, "
        f"regexp_replace({given}, {template}{flags}) AS replace, "
        f'regexp_replace({given}, {template}, {every}) AS "all" FROM t ORDER BY at'
    )
    try:
        return context.sql(query.replace(" AS like", ' AS "like"')).to_pylist()
    except Exception as error:  # DataFusion has no class of its own for what it refuses.
        return {"error": str(error)}


def ours(texts, made):
    """The same of dirspace, by queries of a table."""
    given = json.dumps({"texts": texts, "cases": made})
    command = ["node", str(HERE / "regexps.mjs")]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def explained(name, mine, theirs):
    """Whether the one difference that is meant explains the two values."""
    # DataFusion leaves a group that took no part out of the list, which shifts those after it. Here it is
    # null, so that the second element is the second group, as in PostgreSQL, whose function it is.
    return name == "match" and mine is not None and [one for one in mine if one is not None] == theirs


class Regexps(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.texts, cls.cases = cases()
        cls.mine = ours(cls.texts, cls.cases)
        context = datafusion.SessionContext()
        batch = pa.record_batch({"at": list(range(len(cls.texts))), "s": cls.texts})
        context.register_record_batches("t", [[batch]])
        cls.theirs = [asked(context, case) for case in cls.cases]

    def test_both_take_the_same_patterns(self):
        differing = [
            (case["pattern"], mine if isinstance(mine, dict) else "taken")
            for case, mine, theirs in zip(self.cases, self.mine, self.theirs)
            if isinstance(mine, dict) != isinstance(theirs, dict)
        ]
        self.assertEqual(differing, [])
        refused = [one for one in self.mine if isinstance(one, dict)]
        self.assertGreater(len(refused), 10)
        self.assertGreater(len(self.mine) - len(refused), CASES * 0.9)

    def test_both_find_the_same_in_every_text(self):
        compared = {}
        for case, mine, theirs in zip(self.cases, self.mine, self.theirs):
            if isinstance(mine, dict) or isinstance(theirs, dict):
                continue
            for text, one, other in zip(self.texts, mine, theirs):
                for name in ("like", "match", "replace", "all"):
                    kind = (name, one[name] == other[name])
                    compared[kind] = compared.get(kind, 0) + 1
                    if not kind[1] and not explained(name, one[name], other[name]):
                        self.fail(f"{name} of {case} in {text!r}: {one[name]!r}, and {other[name]!r}")
        self.assertGreater(compared["all", True], CASES * 40)
        # Some texts match and some do not, or nothing would be compared.
        found = [row["like"] for mine in self.mine if not isinstance(mine, dict) for row in mine]
        self.assertGreater(sum(found), len(found) * 0.1)
        self.assertLess(sum(found), len(found) * 0.9)


if __name__ == "__main__":
    unittest.main()
