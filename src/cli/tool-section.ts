/** Reads the sections of tools in a configuration file (node.md#tools). */
import { isObject } from '../base/json/json.ts';
import { type ToolKey, type ToolName, unknownToolKeys } from '../node/config/tool-sections.ts';
import { CliError } from './terminal/exit.ts';
import { warn } from './terminal/output.ts';

export interface ToolSection {
  text(key: ToolKey): string | undefined;
  bool(key: ToolKey, fallback: boolean): boolean;
  count(key: ToolKey, fallback: number): number;
  /** `platform-crypto`, or `crypto.type`: WAVES or GOST. */
  platformCrypto(): boolean;
}

/** Warns of unknown keys. Throws CliError if the file has no such section. */
export function toolSection(tree: unknown, name: ToolName): ToolSection {
  const section = isObject(tree) ? tree[name] : undefined;
  if (!isObject(section)) throw new CliError(`The configuration file has no section '${name}'`);
  for (const { text } of unknownToolKeys(name, section)) warn(text);
  const at = (key: string): unknown =>
    key
      .split('.')
      .reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), section);
  const wrong = (key: ToolKey, expected: string): CliError =>
    new CliError(`${name}.${key} = ${JSON.stringify(at(key))}: expected ${expected}`);

  const text = (key: ToolKey): string | undefined => {
    const value = at(key);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'object') throw wrong(key, 'a text');
    return String(value);
  };
  const bool = (key: ToolKey, fallback: boolean): boolean => {
    const value = text(key)?.toLowerCase();
    if (value === undefined) return fallback;
    if (['true', 'yes', 'on'].includes(value)) return true;
    if (['false', 'no', 'off'].includes(value)) return false;
    throw wrong(key, 'yes or no');
  };
  return {
    text,
    bool,
    count(key, fallback) {
      const value = text(key);
      if (value === undefined) return fallback;
      if (!/^[1-9]\d{0,5}$/.test(value)) throw wrong(key, 'a number from 1 to 999999');
      return Number(value);
    },
    platformCrypto() {
      const type = text('crypto.type')?.toUpperCase();
      if (type !== undefined && type !== 'WAVES' && type !== 'GOST') {
        throw wrong('crypto.type', 'WAVES or GOST');
      }
      return bool('platform-crypto', type !== 'GOST');
    },
  };
}
