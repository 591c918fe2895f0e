/** The options of commands that make a network. */
import { InvalidArgumentError, Option } from 'commander';
import { durationOf } from '../node/config/kinds.ts';

const ROUND_MS_MIN = 100;

export const consensusOption = (): Option =>
  new Option('--consensus <kind>', 'consensus of a new network (default: poa)').choices([
    'poa',
    'pos',
  ]);

export const cryptoOption = (): Option =>
  new Option('--crypto <family>', 'cryptography of a new network (default: international)').choices(
    ['international', 'national'],
  );

export const noFinalityOption = (): Option =>
  new Option(
    '--no-finality',
    'no block of a new network is final, so each may be taken back; under pos none is in any case',
  );

/** `fallback`: what the command takes by itself, where it is no value of the option. */
export const roundOption = (fallback?: string): Option =>
  new Option(
    '--round <duration>',
    `time between blocks of a new network, such as 500ms or 2s${
      fallback === undefined ? '' : ` (default: ${fallback})`
    }`,
  ).argParser(round);

function round(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(text);
  const ms = match && durationOf(Number(match[1]), match[2] ?? '')?.ms;
  if (!ms || ms < ROUND_MS_MIN) {
    throw new InvalidArgumentError(`a duration such as "1s", at least ${ROUND_MS_MIN}ms`);
  }
  return Math.round(ms);
}
