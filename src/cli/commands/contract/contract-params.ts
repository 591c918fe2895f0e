/** Parameters of contracts on the command line: `key:type:value`, where the value may have colons. */
import { parse } from '../../../base/json/json.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';

export interface ParamJson {
  readonly key: string;
  readonly type: string;
  readonly value: unknown;
}

const TYPES = ['string', 'integer', 'boolean', 'binary'] as const;

/** Throws CliError for wrong usage. */
export function paramFrom(text: string): ParamJson {
  const [, key, type, value] = /^([^:]+):([^:]+):(.*)$/s.exec(text) ?? [];
  const known = TYPES.find((name) => name === type);
  if (key === undefined || known === undefined || value === undefined) {
    throw wrong(text, `key:type:value, where type is ${TYPES.join(', ')}`);
  }
  if (known === 'integer') {
    if (!/^-?\d+$/.test(value)) throw wrong(text, 'an integer as value');
    // Without digits in front that JSON does not allow.
    return { key, type: known, value: parse(String(BigInt(value))) };
  }
  if (known === 'boolean') {
    if (value !== 'true' && value !== 'false') throw wrong(text, 'true or false as value');
    return { key, type: known, value: value === 'true' };
  }
  const isBare = known === 'binary' && !value.startsWith('base64:');
  return { key, type: known, value: isBare ? `base64:${value}` : value };
}

const wrong = (text: string, expected: string): CliError =>
  new CliError(`--param ${text}: expected ${expected}`, EXIT.usage);
