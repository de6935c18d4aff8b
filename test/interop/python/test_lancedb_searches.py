"""Indexes, full-text and hybrid searches by LanceDB's Python client, on a server and on its own database."""

import datetime
import shutil
import tempfile

import lancedb
import pyarrow as pa
from lancedb.query import BooleanQuery, BoostQuery, MatchQuery, Occur, PhraseQuery
from lancedb.rerankers import RRFReranker

from served import Served

WORDS = ["apple", "pear", "plum", "fig", "quince", "grape"]
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("kind", pa.string()),
        ("tags", pa.list_(pa.string())),
        ("text", pa.string()),
        ("vector", pa.list_(pa.float32(), 3)),
    ]
)


def text_of(at):
    rest = "ripe apple tree" + " branch" * (at // 9) if at % 9 == 0 else "basket"
    return f"{WORDS[at % 6]} {WORDS[(at * 7 + 1) % 5]} {rest}"


ROWS = [
    {
        "id": at,
        "kind": f"k{at % 4}",
        "tags": [f"t{at % 3}", f"u{at % 5}"],
        "text": text_of(at),
        "vector": [float(at % 7), float(at * 3 % 11), at / 10],
    }
    for at in range(60)
]
WAIT = datetime.timedelta(seconds=30)


def listed(table):
    return sorted((index.name, index.index_type, index.columns) for index in table.list_indices())


def scored(query):
    found = [(row["id"], round(row["_score"], 3)) for row in query.to_list()]
    return sorted(found, key=lambda one: (-one[1], one[0]))


class Searches(Served):
    def setUp(self):
        super().setUp()
        local = tempfile.mkdtemp(prefix="dirspace-interop-")
        self.addCleanup(shutil.rmtree, local)
        self.local = lancedb.connect(local)
        self.remote = lancedb.connect("db://any", api_key="key", host_override=self.url)

    def compare(self, program):
        """What the client does with its own database is what is expected of the server."""
        expected = program(self.local.create_table("t", ROWS, schema=SCHEMA))
        found = program(self.remote.create_table("t", ROWS, schema=SCHEMA))
        self.assertEqual(found, expected)

    def test_indexes_of_values(self):
        def program(table):
            for column, kind in [("id", "BTREE"), ("kind", "BITMAP"), ("tags", "LABEL_LIST")]:
                table.create_scalar_index(column, index_type=kind)
            table.wait_for_index(["id_idx", "kind_idx", "tags_idx"], timeout=WAIT)
            found = [listed(table)]
            for name in ["id_idx", "kind_idx", "tags_idx"]:
                stats = table.index_stats(name)
                found.append((stats.num_indexed_rows, stats.num_unindexed_rows, stats.index_type))
            for where in ["id = 17", "id IN (3, 99, 5)", "kind = 'k2' AND id < 20"]:
                rows = table.search().where(where).select(["id"]).limit(60).to_list()
                found.append(sorted(row["id"] for row in rows))
            found.append(table.count_rows("array_has(tags, 't1')"))
            table.drop_index("kind_idx")
            return [*found, listed(table), table.index_stats("kind_idx")]

        self.compare(program)

    def test_full_text(self):
        def program(table):
            table.create_fts_index(
                "text", with_position=True, stem=False, remove_stop_words=False
            )
            table.wait_for_index(["text_idx"], timeout=WAIT)
            asked = [
                "ripe",
                MatchQuery("apple", "text"),
                PhraseQuery("apple tree", "text"),
                BoostQuery(MatchQuery("apple", "text"), MatchQuery("ripe", "text"), negative_boost=0.3),
                BooleanQuery(
                    [
                        (Occur.MUST, MatchQuery("apple", "text")),
                        (Occur.MUST, MatchQuery("ripe", "text")),
                    ]
                ),
            ]
            found = [listed(table)]
            for query in asked:
                search = table.search(query, query_type="fts", fts_columns="text")
                found.append(scored(search.select(["id", "_score"]).limit(60)))
            filtered = table.search("apple", query_type="fts", fts_columns="text")
            found.append(scored(filtered.where("id < 12").select(["id", "_score"]).limit(60)))
            return found

        self.compare(program)

    def test_hybrid(self):
        def program(table):
            table.create_fts_index("text", stem=False, remove_stop_words=False)
            table.wait_for_index(["text_idx"], timeout=WAIT)
            query = table.search(query_type="hybrid").vector([1.0, 2.0, 3.0]).text("ripe")
            rows = query.rerank(RRFReranker()).limit(3).to_list()
            return [(row["id"], round(row["_relevance_score"], 4)) for row in rows]

        self.compare(program)
