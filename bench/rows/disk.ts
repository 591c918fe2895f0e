/** Row g: bytes on disk for each transfer, with all its indexes and its share of the rest. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Bench } from '../bench.ts';
import { tableBytes } from '../measure/table-bytes.ts';
import { atMost, number, type RowResult } from '../report/result.ts';
import { longChain, storeFile } from './chain.ts';

/** A version 2 transfer without attachment in full bytes. */
const WIRE_BYTES = 156;
const SHOWN_BYTES_MIN = 0.1;

export async function disk(bench: Bench): Promise<RowResult> {
  const chain = await longChain(bench);
  const { blocks, blksize } = statSync(storeFile(chain));
  // st_blocks counts in units of 512 bytes, whatever st_blksize says.
  const bytes = (blocks * 512) / chain.transfers;
  const tables = await tableBytes(dirname(storeFile(chain)));
  const each = tables.map(({ name, bytes }) => ({ name, bytes: bytes / chain.transfers }));
  const used = each.reduce((sum, table) => sum + table.bytes, 0);
  return {
    row: 'g',
    title: 'bytes on disk',
    figures: [
      {
        what: 'bytes per transfer',
        value: `${number(bytes)} B`,
        against: `${WIRE_BYTES} B on the wire`,
        ratio: {
          median: bytes / WIRE_BYTES,
          low: bytes / WIRE_BYTES,
          high: bytes / WIRE_BYTES,
          count: 1,
        },
      },
      ...each
        .filter(({ bytes }) => bytes >= SHOWN_BYTES_MIN)
        .map(({ name, bytes }) => ({ what: `of these ${name}`, value: `${bytes.toFixed(1)} B` })),
      { what: 'of these pages that wait for reuse', value: `${(bytes - used).toFixed(1)} B` },
      { what: 'chain', value: `${chain.transfers} transfers in ${chain.height} blocks` },
    ],
    goals: [
      { level: 'Good', conditions: [atMost(416, bytes, 'B')] },
      { level: 'Strong', conditions: [atMost(361, bytes, 'B')] },
      { level: 'Moonshot', conditions: [atMost(240, bytes, 'B')] },
    ],
    notes: blksize === 0 ? ['the file system does not count blocks'] : [],
  };
}
