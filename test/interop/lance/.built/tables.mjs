import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Binary, BinaryView, Bool, DateDay, DateMillisecond, Decimal, DenseUnion, Dictionary, DurationMicrosecond, Field, Field as Field$1, FixedSizeBinary, FixedSizeList, Float16, Float32, Float64, Int16, Int32, Int32 as Int32$1, Int64, Int8, IntervalDayTime, IntervalMonthDayNano, IntervalYearMonth, LargeBinary, LargeList, LargeUtf8, List, Map_, Null, RecordBatch, Schema, SparseUnion, Struct, Table, TimeMicrosecond, TimeMillisecond, TimeNanosecond, TimeSecond, TimestampMicrosecond, TimestampMillisecond, TimestampNanosecond, TimestampSecond, Type, Uint16, Uint32, Uint64, Uint8, UnionMode, Utf8, Utf8View, Vector, makeData, tableToIPC } from "apache-arrow";
// ../../helpers/seeded.ts
/** A small generator with a seed (mulberry32), the same everywhere: numbers from 0 up to 1. */
function seeded(seed) {
	let state = seed >>> 0;
	return () => {
		state = state + 1831565813 >>> 0;
		let mixed = Math.imul(state ^ state >>> 15, state | 1);
		mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
		return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
	};
}
// ../../helpers/arrow-samples.ts
/**
* Arrow data of every type for tests: made buffer by buffer from a seed, with what real data has
* and builders never make: junk under nulls, offsets that do not begin at 0, unused children,
* slices at odd positions. Also reads values back exactly, for comparing.
*/
const nullable = (name, type) => new Field$1(name, type, true);
/** A maker of each type; nested ones are made around the types given. */
const leafTypes = {
	null: () => new Null(),
	bool: () => new Bool(),
	int8: () => new Int8(),
	int16: () => new Int16(),
	int32: () => new Int32$1(),
	int64: () => new Int64(),
	uint8: () => new Uint8(),
	uint16: () => new Uint16(),
	uint32: () => new Uint32(),
	uint64: () => new Uint64(),
	float16: () => new Float16(),
	float32: () => new Float32(),
	float64: () => new Float64(),
	utf8: () => new Utf8(),
	large_utf8: () => new LargeUtf8(),
	utf8_view: () => new Utf8View(),
	binary: () => new Binary(),
	large_binary: () => new LargeBinary(),
	binary_view: () => new BinaryView(),
	fixed_size_binary: () => new FixedSizeBinary(5),
	decimal128: () => new Decimal(4, 30, 128),
	decimal256: () => new Decimal(4, 60, 256),
	date32: () => new DateDay(),
	date64: () => new DateMillisecond(),
	time32_s: () => new TimeSecond(),
	time32_ms: () => new TimeMillisecond(),
	time64_us: () => new TimeMicrosecond(),
	time64_ns: () => new TimeNanosecond(),
	timestamp_s: () => new TimestampSecond("UTC"),
	timestamp_ms: () => new TimestampMillisecond(),
	timestamp_us: () => new TimestampMicrosecond("Europe/Berlin"),
	timestamp_ns: () => new TimestampNanosecond(),
	duration: () => new DurationMicrosecond(),
	interval_ym: () => new IntervalYearMonth(),
	interval_dt: () => new IntervalDayTime(),
	interval_mdn: () => new IntervalMonthDayNano(),
	dictionary: () => new Dictionary(new Utf8(), new Int32$1()),
	dictionary_int8: () => new Dictionary(new Int64(), new Int8())
};
const nestedTypes = {
	list: (a) => new List(nullable("item", a)),
	large_list: (a) => new LargeList(nullable("item", a)),
	fixed_size_list: (a) => new FixedSizeList(3, nullable("item", a)),
	struct: (a, b) => new Struct([nullable("a", a), nullable("b", b)]),
	map: (_, b) => new Map_(new Field$1("entries", new Struct([new Field$1("key", new Utf8(), false), nullable("value", b)]), false)),
	dense_union: (a, b) => new DenseUnion([3, 7], [nullable("a", a), nullable("b", b)]),
	sparse_union: (a, b) => new SparseUnion([3, 7], [nullable("a", a), nullable("b", b)]),
	dictionary_of_list: (a) => new Dictionary(new List(nullable("item", a)), new Int16())
};
const WORDS = [
	"",
	"a",
	"ab",
	"Zoë",
	"日本",
	"a longer text than fits into a view",
	"😀"
];
/** Random data of a type. `nulls` is the share of nulls, also below. */
function randomData(type, length, random, nulls = .3) {
	const whole = (below) => Math.floor(random() * below);
	const validity = nulls === 0 || random() < .2 ? void 0 : new Uint8Array(length + 7 >> 3);
	let nullCount = 0;
	if (validity !== void 0) for (let row = 0; row < length; row += 1) if (random() < nulls) nullCount += 1;
	else validity[row >> 3] = validity[row >> 3] | 1 << (row & 7);
	const common = {
		type,
		length,
		nullCount,
		nullBitmap: nullCount > 0 ? validity : void 0
	};
	const make = (parts) => makeData({
		...common,
		...parts
	});
	const junk = (bytes) => Uint8Array.from({ length: bytes }, () => whole(256));
	switch (type.typeId) {
		case Type.Null: return makeData({
			type,
			length
		});
		case Type.Bool: return make({ data: junk(length + 7 >> 3) });
		case Type.Utf8:
		case Type.LargeUtf8:
		case Type.Binary:
		case Type.LargeBinary: {
			const isText = type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8;
			const values = Array.from({ length: length + 1 }, () => isText ? Buffer.from(WORDS[whole(WORDS.length)]) : Buffer.from(junk(whole(20))));
			const ends = [];
			let at = 0;
			for (const value of values) {
				at += value.length;
				ends.push(at);
			}
			const valueOffsets = type.typeId === Type.LargeUtf8 || type.typeId === Type.LargeBinary ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends, Number);
			return make({
				data: new Uint8Array(Buffer.concat(values)),
				valueOffsets
			});
		}
		case Type.Utf8View:
		case Type.BinaryView: {
			const views = new Uint8Array(length * 16);
			const words = new DataView(views.buffer);
			const heap = [Buffer.alloc(7), Buffer.alloc(3)];
			for (let row = 0; row < length; row += 1) {
				const value = Buffer.from(WORDS[whole(WORDS.length)]);
				words.setInt32(row * 16, value.length, true);
				if (value.length <= 12) views.set(value, row * 16 + 4);
				else {
					const buffer = whole(2);
					views.set(value.subarray(0, 4), row * 16 + 4);
					words.setInt32(row * 16 + 8, buffer, true);
					words.setInt32(row * 16 + 12, heap[buffer].length, true);
					heap[buffer] = Buffer.concat([heap[buffer], value]);
				}
			}
			return make({
				views,
				variadicBuffers: heap.map((part) => new Uint8Array(part))
			});
		}
		case Type.List:
		case Type.LargeList:
		case Type.Map: {
			const ends = [whole(3)];
			for (let row = 0; row < length; row += 1) ends.push((ends.at(-1) ?? 0) + whole(4));
			const child = randomData(type.children[0].type, (ends.at(-1) ?? 0) + whole(3), random, type.typeId === Type.Map ? 0 : nulls);
			return make({
				valueOffsets: type.typeId === Type.LargeList ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends),
				child
			});
		}
		case Type.FixedSizeList: {
			const { listSize } = type;
			return make({ child: randomData(type.children[0].type, length * listSize, random, nulls) });
		}
		case Type.Struct: return make({ children: type.children.map((field) => randomData(field.type, length, random, field.nullable ? nulls : 0)) });
		case Type.Union: {
			const { typeIds: known, mode } = type;
			const typeIds = Int8Array.from({ length }, () => known[whole(known.length)]);
			const dense = mode === UnionMode.Dense;
			const counts = /* @__PURE__ */ new Map();
			const valueOffsets = Int32Array.from(typeIds, (id) => {
				const next = counts.get(id) ?? 0;
				counts.set(id, next + 1);
				return next;
			});
			const children = type.children.map((field, at) => randomData(field.type, dense ? counts.get(known[at]) ?? 0 : length, random, nulls));
			return makeData({
				type,
				length,
				typeIds,
				children,
				...dense ? { valueOffsets } : {}
			});
		}
		case Type.Dictionary: {
			const { dictionary, indices } = type;
			const size = 1 + whole(6);
			const values = new Vector([randomData(dictionary, size, random, nulls / 3)]);
			const data = new indices.ArrayType(length);
			for (let row = 0; row < length; row += 1) data[row] = whole(size);
			return make({
				data,
				dictionary: values
			});
		}
		case Type.Float: {
			const bytes = type.ArrayType.BYTES_PER_ELEMENT;
			const specials = [
				0,
				-0,
				NaN,
				Number.POSITIVE_INFINITY,
				1.5
			];
			const data = new type.ArrayType(length);
			for (let row = 0; row < length; row += 1) data[row] = bytes === 2 ? [
				0,
				32768,
				31744,
				15360,
				1
			][whole(5)] : random() < .5 ? specials[whole(5)] : random() - .5;
			return make({ data });
		}
		default: {
			const width = bytesPerValue(type);
			const array = type.ArrayType;
			return make({ data: new array(junk(length * width).buffer) });
		}
	}
}
function bytesPerValue(type) {
	const each = type.ArrayType.BYTES_PER_ELEMENT ?? 1;
	if (type.typeId === Type.FixedSizeBinary) return type.byteWidth;
	if (type.typeId === Type.Decimal) return type.bitWidth / 8;
	if (type.typeId === Type.Interval) return [
		4,
		8,
		16
	][type.unit];
	return each;
}
/** A batch of columns as they are. */
function batchOf(schema, columns, length) {
	return new RecordBatch(schema, makeData({
		type: new Struct(schema.fields),
		length: length ?? columns[0]?.length ?? 0,
		nullCount: 0,
		children: [...columns]
	}));
}
function randomBatch(schema, rows, random, nulls = .3) {
	return batchOf(schema, schema.fields.map((field) => randomData(field.type, rows, random, field.nullable ? nulls : 0)), rows);
}
// tables.ts
/**
* Makes random tables that are written for Lance, and beside each what this package reads from some of its
* versions: `tables.ts PACKAGE ROOT OUT COUNT SEED`. Lance must read the same.
*/
const [entry = "", root = "", out = "", count = "20", seed = "1"] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(entry).href);
mkdirSync(out, { recursive: true });
const random = seeded(Number(seed));
const below = (limit) => Math.floor(random() * limit);
const pick = (values) => values[below(values.length)];
/** Types without a form in Lance 2.0 make the table say so; few of them, so that most tables open. */
const CLOSED = /view|interval|int8$|map|union|dictionary_of/;
const flat = Object.entries(leafTypes).filter(([name]) => name === "int8" || !CLOSED.test(name)).map(([, make]) => make);
const nested = Object.entries(nestedTypes).filter(([name]) => !CLOSED.test(name)).map(([, make]) => make);
const closed = Object.entries(leafTypes).filter(([name]) => /view|interval/.test(name)).map(([, make]) => make);
function randomType() {
	if (random() < .02) return pick(closed)();
	if (random() < .7) return pick(flat)();
	const inner = () => random() < .8 ? pick(flat)() : pick(nested)(pick(flat)(), pick(flat)());
	return pick(nested)(inner(), inner());
}
const expected = [];
const db = await connect(root, { lance: "read" });
for (let at = 0; at < Number(count); at++) {
	const name = `t${at}`;
	const fields = Array.from({ length: 1 + below(6) }, (_, column) => {
		return new Field(`c${column}`, randomType(), random() < .8);
	});
	const schema = new Schema([new Field("n", new Int32(), true), ...fields]);
	const rows = () => {
		const batches = Array.from({ length: 1 + below(3) }, () => randomBatch(schema, below(200), random, random() < .3 ? 0 : .2));
		return new Table(schema, batches);
	};
	let table;
	try {
		table = await db.createTable(name, rows());
	} catch (error) {
		console.log(`${name}: ${String(error).slice(0, 200)}`);
		continue;
	}
	const dump = async () => {
		const version = await table.version();
		const { opens = false, reason } = (await db.describeTable(name, [], { load_detailed_metadata: true })).lance ?? {};
		const file = `${name}-${version}.arrow`;
		const found = await table.query().withRowId().toArrow();
		writeFileSync(join(out, file), tableToIPC(found, "stream"));
		expected.push({
			table: name,
			version,
			opens,
			...reason === void 0 ? {} : { reason },
			file
		});
	};
	await dump();
	for (let step = 0; step < 4; step++) try {
		switch (below(7)) {
			case 0:
			case 1:
				await table.add(rows());
				break;
			case 2:
				await table.delete(`n % ${2 + below(5)} = 0 OR n IS NULL`);
				break;
			case 3:
				await table.optimize({});
				break;
			case 4:
				await table.addColumns([{
					name: `x${step}`,
					valueSql: "n + 1"
				}]);
				break;
			case 5:
				await table.alterColumns([{
					path: "n",
					dataType: "int64"
				}]);
				break;
			default: await table.update({
				where: "n > 0",
				values: { n: 7 }
			});
		}
	} catch (error) {
		if (!/Nothing was|cannot|does not fit|already/.test(String(error))) throw error;
	}
	await dump();
}
writeFileSync(join(out, "expected.json"), JSON.stringify(expected, null, 1));
await db.close();
console.log(`${expected.length} versions of ${count} tables`);
export {};
