/** Prints the names of LanceDB's tables in a folder: what `dirspace ls` is compared with. */
import { connect } from '@lancedb/lancedb';

const connection = await connect(process.argv[2]);
console.log(await connection.tableNames());
process.exit();
