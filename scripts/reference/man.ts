/**
 * Manual pages and the command reference, from the registered commands and the settings table. They
 * do not depend on the date, so that a test can compare them.
 */
import type { Command, Option } from 'commander';
import { version } from '../../src/cli/commands/version.ts';
import { defaultText, otherSpellings } from '../../src/node/config/document.ts';
import { allSettings } from '../../src/node/config/settings.ts';

const EXIT_CODES: readonly [code: string, meaning: string][] = [
  ['0', 'Success.'],
  ['1', 'Failure, including errors of configuration and genesis.'],
  ['2', 'Wrong usage of the command line.'],
  ['3', 'A contract refused the transaction.'],
  ['4', 'A contract could not be executed.'],
  ['38', 'A feature that this node does not implement is active in the network.'],
  ['61', 'A password is needed and there is no console to ask for it.'],
  ['69', 'The time servers gave no usable answer for ntp.fatal-timeout.'],
  ['70', 'An assertion of the node failed.'],
  ['75', 'Another process uses the data directory.'],
  ['77', 'The owner of the node is not registered; address and public key are printed.'],
  [
    '130',
    'A signal interrupted chain import, and committed blocks stay; or Ctrl-C a question for a password.',
  ],
];

const VARIABLES: readonly [name: string, meaning: string][] = [
  ['PLATFORM_NODE_OWNER_PASSWORD', 'Password of the private key of the node owner.'],
  [
    'PLATFORM_NODE_OWNER_PASSWORD_EMPTY',
    'true: the key has no password; false: the variable above holds it. WE_NODE_ instead of ' +
      'PLATFORM_NODE_ works for both.',
  ],
  [
    'NODE_<SETTING>',
    'Overrides a setting, for example NODE_REST_API_PORT; see platform-node.conf(5).',
  ],
  ['LOG_LEVEL', 'DEBUG, INFO, WARN or ERROR; wins over logging-level.'],
  [
    'PLATFORM_NODE_URL, PLATFORM_NODE_API_KEY, PLATFORM_NODE_PRIVACY_API_KEY',
    'The node that tx and node commands call, and its API key.',
  ],
  ['PLATFORM_NODE_CHAIN_ID', 'Network id for offline commands.'],
  ['NO_COLOR', 'No colours, also on a terminal.'],
];

/** File name → text of every manual page. */
export function manualPages(program: Command): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  pages.set('platform-node.1', mainPage(program));
  for (const verb of program.commands) {
    if (verb.name() !== 'help') pages.set(`platform-node-${verb.name()}.1`, verbPage(verb));
  }
  pages.set('platform-node.conf.5', settingsPage());
  return pages;
}

// A backslash begins an escape; a dot or quote at the start begins a request; a dash would become a
// hyphen.
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n');

const head = (name: string, section: number): string =>
  `.TH ${name.toUpperCase()} ${section} "" "platform-node ${version}" "platform-node manual"\n`;
const bold = (text: string): string => `\\fB${roff(text)}\\fR`;
const term = (name: string, meaning: string): string => `.TP\n${bold(name)}\n${roff(meaning)}\n`;

function mainPage(program: Command): string {
  const verbs = program.commands.filter((verb) => verb.name() !== 'help');
  return (
    `${head('platform-node', 1)}.SH NAME\nplatform\\-node \\- node of a permissioned blockchain\n` +
    `.SH SYNOPSIS\n${bold('platform-node')} \\fIcommand\\fR [\\fIoptions\\fR]\n` +
    `.SH DESCRIPTION\n${roff(program.description())}\nAnswers go to stdout as JSON, messages to stderr.\n` +
    `A file argument of ${bold('-')} is stdin.\n` +
    `.SH COMMANDS\n${verbs.map((verb) => term(verb.name(), `${verb.description()} See platform-node-${verb.name()}(1).`)).join('')}` +
    `.SH "EXIT STATUS"\n${EXIT_CODES.map(([code, meaning]) => term(code, meaning)).join('')}` +
    `.SH ENVIRONMENT\n${VARIABLES.map(([name, meaning]) => term(name, meaning)).join('')}` +
    `.SH FILES\n${term('configuration file', 'HOCON; every setting is described in platform-node.conf(5).')}`
  );
}

function verbPage(verb: Command): string {
  const name = `platform-node-${verb.name()}`;
  const commands = [...ownForm(verb), ...verb.commands];
  const synopsis = commands
    .map((one) => `${bold(pathOf(one))} ${roff(one.usage())}`)
    .join('\n.br\n');
  const sections = groupsOf(verb).map(({ title, text, options }) => {
    const head = title === undefined ? '' : `.SS "${roff(title)}"\n`;
    const terms = options.map((option) => term(option.flags, optionText(option)));
    return `${head}${roff(text)}\n${terms.join('')}`;
  });
  return (
    `${head(name, 1)}.SH NAME\n${roff(name)} \\- ${roff(verb.summary())}\n` +
    `.SH SYNOPSIS\n${synopsis}\n.SH DESCRIPTION\n${sections.join('')}` +
    `.SH "SEE ALSO"\n${bold('platform-node')}(1) for exit status and environment, ` +
    `${bold('platform-node.conf')}(5)\n`
  );
}

/** `platform-node tx send transfer` */
const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

interface Group {
  readonly title: string | undefined;
  readonly command: Command;
  readonly text: string;
  readonly options: readonly Option[];
}

/** The description of a verb; properties that all kinds of one command share are described once. */
function groupsOf(verb: Command): Group[] {
  const own = ownForm(verb).map((command): Group => {
    const { options } = command;
    return { title: undefined, command, text: command.description(), options };
  });
  const kinds = verb.commands.flatMap((command): Group[] => {
    const title = `${pathOf(command).split(' ').slice(2).join(' ')} ${command.usage()}`;
    const text = command.description();
    if (command.commands.length === 0) return [{ title, command, text, options: command.options }];
    const [first, ...others] = command.commands;
    const shared = (first?.options ?? []).filter((option) =>
      others.every((other) => other.options.some((one) => isSame(one, option))),
    );
    const kinds = groupsOf(command).map((group) => ({
      ...group,
      options: group.options.filter((option) => !shared.some((one) => isSame(one, option))),
    }));
    return [{ title, command, text, options: shared }, ...kinds];
  });
  return [...own, ...kinds];
}

/** The verb itself, where it does something without the name of one of its commands. */
const ownForm = (verb: Command): readonly Command[] =>
  verb.commands.length === 0 || verb.registeredArguments.length > 0 ? [verb] : [];

const isSame = (a: Option, b: Option): boolean =>
  a.flags === b.flags && a.description === b.description;

function optionText(option: Option): string {
  const facts = [
    ...(option.mandatory ? ['required'] : []),
    ...(option.defaultValue === undefined ? [] : [`default ${String(option.defaultValue)}`]),
    ...(option.envVar === undefined ? [] : [`variable ${option.envVar}`]),
  ];
  return facts.length === 0 ? option.description : `${option.description} (${facts.join('; ')})`;
}

function settingsPage(): string {
  const entries = allSettings.map(({ key, env, setting }) => {
    const spellings = otherSpellings(setting);
    const also = spellings.length === 0 ? '' : ` Also spelled ${spellings.join(', ')}.`;
    const shared = setting.network === true ? ' Equal on all nodes.' : '';
    const effect = setting.ignored === true ? ' Without effect.' : '';
    return (
      `.TP\n${bold(key)} (${roff(setting.kind.name)}; ${roff(defaultText(setting))})\n` +
      `${roff(setting.doc + effect + shared + also)}\n.br\n${roff(env)}\n`
    );
  });
  return (
    `${head('platform-node.conf', 5)}.SH NAME\nplatform\\-node.conf \\- configuration of platform\\-node\n` +
    `.SH DESCRIPTION\n${roff(
      'A HOCON file. Keys are below node { … } or without it. A flag --set key=value wins over the ' +
        'environment variable, which wins over the file, which wins over the default. Durations are written ' +
        '200ms, 17s or "1 minute", sizes 100MiB, amounts as smallest units or "1.5 WEST"; integers ' +
        'above 2^53 go in quotes. A secret can be read from a file named by <key>-file.',
    )}\n.SH SETTINGS\n${entries.join('')}.SH "SEE ALSO"\n${bold('platform-node')}(1)\n`
  );
}

/** docs/reference/cli.md */
export function commandReference(program: Command): string {
  const sections = program.commands
    .filter((verb) => verb.name() !== 'help')
    .flatMap(groupsOf)
    .map(({ command, text, options }) => {
      const path = pathOf(command);
      const rows = options.map(
        (option) => `| \`${option.flags}\` | ${optionText(option).replaceAll('|', '\\|')} |\n`,
      );
      const table = rows.length === 0 ? '' : `\n| Option | Meaning |\n|---|---|\n${rows.join('')}`;
      return `## ${path}\n\n\`${path} ${command.usage()}\`\n\n${text}\n${table}`;
    });
  const codes = EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n');
  const variables = VARIABLES.map(([name, meaning]) => `| \`${name}\` | ${meaning} |`).join('\n');
  return `# Commands

Generated from the registered commands; do not edit.

Answers go to stdout as JSON, messages to stderr. A file argument of \`-\` is stdin.

| Exit code | Meaning |
|---|---|
${codes}

| Variable | Meaning |
|---|---|
${variables}

${sections.join('\n')}`;
}
