/**
 * The settings table as documents: configs/example.conf, the JSON Schema, and
 * the effective settings of a node without its secrets. All of it follows from the table alone.
 */
import { stringify } from '../../base/json/json.ts';
import { valueAt } from './genesis-section.ts';
import {
  type AnySetting,
  isSetting,
  type PlacedSetting,
  placed,
  type SettingTree,
} from './setting.ts';
import { allSettings, type Config, settings } from './settings.ts';

const HIDDEN = '***';
const WIDTH = 96;
export const WITHOUT_EFFECT = 'without effect';

/** The kind, the variable, and the default where the line below does not show it. */
function factsOf({ setting, env }: PlacedSetting): string {
  const facts = [setting.kind.name, env];
  if (setting.presence !== 'default') facts.splice(1, 0, defaultText(setting));
  if (setting.ignored === true) facts.push(WITHOUT_EFFECT);
  return facts.join('; ');
}

/** `default 6864`, `no default`, `required` … */
export function defaultText(setting: AnySetting): string {
  if (setting.presence === 'required') return 'required';
  if (setting.presence === 'optional') return 'no default';
  const shown = setting.presence === 'derived' ? setting.fallback : literal(setting.fallback);
  return `default ${String(shown)}`;
}

/** A default in the form of HOCON. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, inner]) => `${key} = ${literal(inner)}`);
    return `{ ${pairs.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  return /^[A-Za-z0-9]+$/.test(value) ? value : JSON.stringify(value);
}

const EXAMPLE_HEAD = `# Every setting of platform-node, with its default. Generated from the table of settings.
#
# HOCON: JSON without its ceremony. Durations: 200ms, 17s, "1 minute". Sizes: 100MiB. Amounts: smallest
# units or "1.5 WEST"; integers above 2^53 go in quotes. Every setting has an environment variable and
# can be given as --set key=value; flags win over variables, these over the file.
`;

/** All settings, commented out. Settings without a default have no value. */
export function exampleConfig(): string {
  return `${EXAMPLE_HEAD}\nnode {\n${section(settings, '', '  ')}}\n`;
}

function section(tree: SettingTree, prefix: string, indent: string): string {
  const lines = Object.entries(tree).map(([name, node]) => {
    const key = prefix + name;
    if (!isSetting(node)) {
      return `${indent}${name} {\n${section(node, `${key}.`, `${indent}  `)}${indent}}\n`;
    }
    const only = placed({ [name]: node }, prefix)[0]!;
    const comment = wrap(`${node.doc} [${factsOf(only)}]`, `${indent}# `);
    const value = node.presence === 'default' ? ` ${literal(node.fallback)}` : '';
    return `${comment}${indent}# ${name} =${value}\n`;
  });
  return lines.join('\n');
}

function wrap(text: string, lead: string): string {
  let out = '';
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && lead.length + line.length + 1 + word.length > WIDTH) {
      out += `${lead}${line}\n`;
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return `${out}${lead}${line}\n`;
}

export const otherSpellings = (setting: AnySetting): string[] =>
  (setting.aliases ?? []).map((alias) => (typeof alias === 'string' ? alias : alias.key));

/** JSON Schema of the section `node`, for editors. */
export function configSchema(): Record<string, unknown> {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...treeSchema(settings) };
}

function treeSchema(tree: SettingTree): Record<string, unknown> {
  const entries = Object.entries(tree);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, node]) => [
        name,
        isSetting(node)
          ? {
              description: node.doc,
              ...node.kind.schema,
              ...(node.presence === 'default' ? { default: node.fallback } : {}),
              ...(node.ignored === true ? { deprecated: true } : {}),
            }
          : treeSchema(node),
      ]),
    ),
  };
}

/**
 * Key → value in the form of HOCON. Secrets are masked, and settings without a value are left out.
 */
export function effectiveSettings(config: Config): Record<string, unknown> {
  const shown: [string, unknown][] = [];
  for (const { key, setting } of allSettings) {
    const value = valueAt(config, key);
    if (value === undefined || setting.ignored === true) continue;
    const isEmpty = Array.isArray(value) && value.length === 0;
    shown.push([key, setting.secret === true && !isEmpty ? HIDDEN : setting.kind.show(value)]);
  }
  return Object.fromEntries(shown);
}

/** The same for the settings that were given; all others have their defaults. */
export function givenSettings(
  config: Config,
  given: { has(key: string): boolean },
): Record<string, unknown> {
  const all = Object.entries(effectiveSettings(config));
  return Object.fromEntries(all.filter(([key]) => given.has(key)));
}

/** Keys of the settings whose values differ, secrets included. */
export function changedSettings(before: Config, after: Config): string[] {
  const textOf = (config: Config, key: string): string => stringify(valueAt(config, key) ?? null);
  return allSettings
    .filter(
      ({ key, setting }) => setting.ignored !== true && textOf(before, key) !== textOf(after, key),
    )
    .map(({ key }) => key);
}
