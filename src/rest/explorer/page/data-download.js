/** Saves all pages of a search as a file. */
import { ask } from './data-rest.js';

/** Integers of 64 bits stay exact. */
const stringify = (value) =>
  JSON.stringify(value, (_name, one) =>
    typeof one === 'bigint' ? JSON.rawJSON(String(one)) : one,
  );

const ROWS = 500;
/** The file is made in the memory of the browser. */
const ROWS_MAX = 50_000;
const COLUMNS = [
  'index',
  'id',
  'type',
  'height',
  'timestamp',
  'sender',
  'recipient',
  'assetId',
  'amount',
  'fee',
  'feeAssetId',
  'attachment',
];
const KINDS = {
  CSV: { type: 'text/csv', ending: 'csv', head: `${COLUMNS.join(',')}\r\n`, line: csvLine },
  NDJSON: { type: 'application/x-ndjson', ending: 'ndjson', head: '', line: jsonLine },
};

export async function download(kind, filters, progress) {
  const { type, ending, head, line } = KINDS[kind];
  const parts = [head];
  let rows = 0;
  let index;
  do {
    const query = new URLSearchParams(filters);
    query.set('limit', String(ROWS));
    query.set('extended', 'true');
    if (index !== undefined) query.set('index', index);
    const page = await ask('transactions', query);
    parts.push(page.value.map(line).join(''));
    rows += page.value.length;
    progress(rows);
    index = page.next;
  } while (index !== undefined && rows < ROWS_MAX);
  save(new Blob(parts, { type }), `transactions.${ending}`);
}

/** A text that begins like a formula would be one in a spreadsheet. */
function csvCell(value) {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? stringify(value) : String(value);
  const safe = /^[=+@\t\r]|^-(?!\d+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvLine(tx) {
  return `${COLUMNS.map((name) => csvCell(tx[name])).join(',')}\r\n`;
}

function jsonLine(tx) {
  return `${stringify(tx)}\n`;
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
