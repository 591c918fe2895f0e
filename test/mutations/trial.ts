/** One run of a test file on the copies, with all guards or without one. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TestFile } from '../../scripts/test-file.ts';
import type { Copies } from './copies.ts';
import { switchedEnvironment } from './switches.ts';
import { SHORT } from './test-files.ts';

export interface Trial {
  /** Name of the first test that fails; undefined where all pass. */
  readonly failure: string | undefined;
  readonly seconds: number;
  /** Numbers of the guards that acted. */
  readonly acted: readonly number[];
}

let runs = 0;

export async function tryFile(
  copies: Copies,
  file: string,
  timeoutMs: number,
  off?: number,
): Promise<Trial> {
  runs++;
  const acted = join(copies.folder, `acted-${runs}`);
  const switches = switchedEnvironment(copies.folder, {
    acted,
    ...(off === undefined ? {} : { off }),
  });
  const env = { ...SHORT, ...switches, TAP_BAIL: '1' };
  const { failed, failures, seconds } = await new TestFile({ file, env }, timeoutMs, true).result();
  const notes = existsSync(acted) ? readFileSync(acted, 'utf8').split('\n') : [];
  rmSync(acted, { force: true });
  return {
    failure: failed === 0 ? undefined : (failures[0]?.name ?? 'it fails'),
    seconds,
    acted: [...new Set(notes.filter((line) => line !== '').map(Number))],
  };
}
