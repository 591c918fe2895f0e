/**
 * The sections of a configuration file that belong to tools (node.md#tools), with their keys. They
 * have few settings, each for one tool, so they are not in the table of settings.
 */
import { isObject } from '../../base/json/json.ts';
import { didYouMean } from './spelling.ts';

const CRYPTOGRAPHY = ['platform-crypto', 'crypto.type'] as const;

const TOOL_SECTIONS = {
  'accounts-generator': [
    ...CRYPTOGRAPHY,
    'chain-id',
    'amount',
    'wallet',
    'wallet-password',
    'reload-node-wallet.enabled',
    'reload-node-wallet.url',
    'reload-node-wallet.api-key',
  ],
  'apikeyhash-generator': [...CRYPTOGRAPHY, 'api-key', 'file'],
} as const;

export type ToolName = keyof typeof TOOL_SECTIONS;
export type ToolKey = (typeof TOOL_SECTIONS)[ToolName][number];

export const isToolName = (name: string): name is ToolName => Object.hasOwn(TOOL_SECTIONS, name);

export interface UnknownToolKey {
  /** With the name of the section in front. */
  readonly key: string;
  readonly text: string;
}

/** The keys of a tool's section that the tool does not know. */
export function unknownToolKeys(name: ToolName, section: unknown): UnknownToolKey[] {
  const known: readonly string[] = TOOL_SECTIONS[name];
  return isObject(section) ? unknownIn(section, '') : [];

  function unknownIn(part: Readonly<Record<string, unknown>>, prefix: string): UnknownToolKey[] {
    return Object.entries(part).flatMap(([word, value]) => {
      const key = prefix + word;
      if (known.includes(key)) return [];
      const isSection = known.some((one) => one.startsWith(`${key}.`));
      if (isSection && isObject(value)) return unknownIn(value, `${key}.`);
      const guess = didYouMean(key, known);
      const hint = guess === undefined ? '' : `, did you mean '${name}.${guess}'?`;
      return [{ key: `${name}.${key}`, text: `unknown setting '${name}.${key}'${hint}` }];
    });
  }
}
