/**
 * Measures the check of the file of a store before it is opened, as at every start.
 *
 *   node bench/measure/check-store.ts FOLDER
 */
import { statSync } from 'node:fs';
import { checkFile } from '../../src/adapters/lmdb/check.ts';
import { dataFile } from '../../src/adapters/lmdb/environment.ts';
import { tables } from '../../src/ledger/tables.ts';

const path = dataFile(process.argv[2] ?? '.');
const before = process.cpuUsage();
const begun = performance.now();
const state = await checkFile(path, tables);
const seconds = (performance.now() - begun) / 1000;
const { user, system } = process.cpuUsage(before);
const cpuSeconds = (user + system) / 1e6;
const result = { ...state, megabytes: statSync(path).size / 1e6, seconds, cpuSeconds };
process.stdout.write(`${JSON.stringify(result)}\n`);
