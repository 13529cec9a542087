// The events of many traces in Parquet files, and questions to them, by DuckDB in this process.
//
//   rows.sh TRACE... | node duckdb.mjs load FOLDER     adds a file FOLDER/board=BOARD/boot=BOOT/data_0.parquet for each
//                                                      boot; one that is there is replaced
//   node duckdb.mjs ask FOLDER QUESTION.sql            prints the answer, tab-separated, NULL as \N
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const texts =
  "board boot kernel type dir device register fields function source caller mode comm interrupt text flags payload note".split(" ");
const numbers =
  "ns ticks cpu size offset address value duration_ns pc lr sp va task pid lost sequence order".split(" ");
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
const list = (names) => `[${names.map(quoted)}]`;

// Columns are found by their names. With one thread a boot, whose rows follow each other, becomes one file.
const load = (folder) => `
  COPY (SELECT coalesce(COLUMNS(${list(texts)}), ''), CAST(COLUMNS(${list(numbers)}) AS UBIGINT)
        FROM read_csv('/dev/stdin', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"'))
  TO ${quoted(folder)} (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (board, boot), OVERWRITE_OR_IGNORE)`;

const views = (folder) => `
  CREATE VIEW events AS SELECT * FROM read_parquet(${quoted(`${folder}/*/*/*.parquet`)},
      hive_partitioning = true, hive_types = {'board': VARCHAR, 'boot': VARCHAR});
  ${readFileSync(new URL("views.sql", import.meta.url), "utf8")}`;

const options = { threads: "1", memory_limit: "500MB", partitioned_write_flush_threshold: "20000" };
const [verb, folder, question] = process.argv.slice(2);
try {
  const database = await DuckDBInstance.create(":memory:", options);
  const connection = await database.connect();
  if (verb === "load" && folder && !question) {
    await connection.run(load(folder));
  } else if (verb === "ask" && question) {
    await connection.run(views(folder));
    const answer = await connection.runAndReadAll(readFileSync(question, "utf8"));
    for (const row of [answer.columnNames(), ...answer.getRowsJS()]) console.log(row.map((cell) => cell ?? "\\N").join("\t"));
  } else {
    console.error("usage: rows.sh TRACE... | duckdb.mjs load FOLDER, or duckdb.mjs ask FOLDER QUESTION.sql");
    process.exitCode = 2;
  }
} catch (error) {
  const [reason] = error.message.split("\n");
  const other = verb === "load" && reason.startsWith("Binder Error"); // a column is missing
  console.error(`duckdb.mjs: ${other ? "not the rows of rows.sh: " : ""}${reason}`);
  process.exitCode = 1;
}
