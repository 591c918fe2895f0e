/** `platform-node completion bash|zsh|fish`: scripts generated from the registered commands. */
import { Argument, type Command } from 'commander';
import { printDocument } from '../terminal/output.ts';

export function register(command: Command, whole: () => Promise<Command>): void {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      '\nbash: source <(platform-node completion bash)\n' +
        'zsh:  source <(platform-node completion zsh)\n' +
        'fish: platform-node completion fish | source',
    )
    .action(async (shell: string) => {
      printDocument(SHELLS[shell]!(choicesOf(await whole())));
    });
}

/** What may follow the commands typed so far. */
interface Choices {
  /** Those commands with spaces between them, by name and by alias. */
  readonly paths: readonly string[];
  /**
   * Subcommands, or the known values of an argument; the options of a command that takes neither.
   * None where a file is typed.
   */
  readonly words: readonly Choice[];
  readonly options: readonly Option[];
}

interface Choice {
  readonly word: string;
  readonly doc: string;
}

interface Option extends Choice {
  /** True for an option that takes a value. */
  readonly takesValue?: boolean;
  /** The values that the option takes, where they are known. */
  readonly values?: readonly string[];
}

/** The choices of a command and of all below it. */
function choicesOf(command: Command, paths: readonly string[] = ['']): readonly Choices[] {
  const subcommands = command.commands.map((sub) => ({
    word: sub.name(),
    doc: sub.summary() || sub.description(),
  }));
  const values = command.registeredArguments.flatMap(({ argChoices = [], description: doc }) =>
    argChoices.map((word) => ({ word, doc })),
  );
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({
      word: option.long ?? option.flags,
      doc: option.description,
      takesValue: option.required,
      values: option.argChoices ?? [],
    }));
  const all = [...options, { word: '--help', doc: 'show help' }];
  const words = [...subcommands, ...values];
  const takesFile = command.registeredArguments.some((one) => one.required || !one.variadic);
  const own = { paths, words: words.length > 0 || takesFile ? words : all, options: all };
  const below = command.commands.flatMap((sub) => {
    const names = [sub.name(), ...sub.aliases()];
    const further = paths.flatMap((path) => names.map((name) => `${path} ${name}`.trim()));
    return choicesOf(sub, further);
  });
  return [own, ...below];
}

const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const fishQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
const wordOf = ({ word }: Choice): string => word;

/** Options after which a file or a value is typed, which no list can tell. */
function valued(all: readonly Choices[]): string {
  const options = all.flatMap((choices) => choices.options);
  return [...new Set(options.filter(({ takesValue }) => takesValue).map(wordOf))].join(' ');
}

/** An option whose values are known, with the commands before it. */
interface KnownValues {
  readonly paths: readonly string[];
  readonly values: readonly string[];
}

const knownValues = (all: readonly Choices[]): readonly KnownValues[] =>
  all.flatMap(({ paths, options }) =>
    options
      .filter(({ values = [] }) => values.length > 0)
      .map(({ word, values = [] }) => ({
        paths: paths.map((path) => `${path} ${word}`.trim()),
        values,
      })),
  );

/** The functions of bash and zsh that set what follows a path, and what follows an option; 1: unknown. */
const tables = (choices: readonly string[], values: readonly string[]): string =>
  `_platform_node_choices() {
  case $1 in
${choices.join('\n')}
    *) return 1 ;;
  esac
}
_platform_node_values() {
  case $1 in
${values.join('\n')}
    *) return 1 ;;
  esac
}
`;

/** The longest known path among the words before the cursor decides, in each shell. */
function bash(all: readonly Choices[]): string {
  const listed = (choices: readonly Choice[]) => singleQuoted(choices.map(wordOf).join(' '));
  const cases = all.map(
    ({ paths, words, options }) =>
      `    ${paths.map(singleQuoted).join('|')}) words=${listed(words)} options=${listed(options)} ;;`,
  );
  const known = knownValues(all).map(
    ({ paths, values }) =>
      `    ${paths.map(singleQuoted).join('|')}) words=${singleQuoted(values.join(' '))} ;;`,
  );
  return `_platform_node() {
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local at= word words= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _platform_node_choices "\${at:+$at }$word" && at="\${at:+$at }$word"
  done
  _platform_node_choices "$at"
  case " ${valued(all)} " in
    *" $before "*) words=; _platform_node_values "$at $before" ;;
    *) case $current in -*) words=$options ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
${tables(cases, known)}complete -F _platform_node platform-node
`;
}

/** Works as a file of `fpath` too, by its first line and its last call. */
function zsh(all: readonly Choices[]): string {
  const listed = (choices: readonly Choice[]) =>
    choices.map(({ word, doc }) => singleQuoted(`${word}:${doc}`)).join(' ');
  const cases = all.map(
    ({ paths, words, options }) =>
      `    ${paths.map(singleQuoted).join('|')}) offered=(${listed(words)}) flags=(${listed(options)}) ;;`,
  );
  const known = knownValues(all).map(
    ({ paths, values }) =>
      `    ${paths.map(singleQuoted).join('|')}) offered=(${values.map(singleQuoted).join(' ')}) ;;`,
  );
  return `#compdef platform-node
_platform_node() {
  local at word before=$words[CURRENT-1]
  local -a offered flags
  for word in \${words[2,CURRENT-1]}; do
    _platform_node_choices "\${at:+$at }$word" && at="\${at:+$at }$word"
  done
  _platform_node_choices "$at"
  if [[ " ${valued(all)} " == *" $before "* ]]; then
    offered=()
    _platform_node_values "$at $before"
  elif [[ $words[CURRENT] == -* ]]; then
    offered=($flags)
  fi
  _describe platform-node offered || _files
}
${tables(cases, known)}if [ "$funcstack[1]" = _platform-node ]; then
  _platform_node "$@"
else
  (( $+functions[compdef] )) || { autoload -U compinit && compinit; }
  compdef _platform_node platform-node
fi
`;
}

function fish(all: readonly Choices[]): string {
  const listed = (choices: readonly Choice[]) =>
    choices.map(({ word, doc }) => fishQuoted(`${word}\t${doc}`)).join(' ');
  const cases = all.map(
    ({ paths, words, options }) =>
      `    case ${paths.map(fishQuoted).join(' ')}\n      set words ${listed(words)}\n      set options ${listed(options)}`,
  );
  const known = knownValues(all).map(
    ({ paths, values }) =>
      `    case ${paths.map(fishQuoted).join(' ')}\n      set words ${values.map(fishQuoted).join(' ')}`,
  );
  return `function __platform_node_offered
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l at
  set -l words
  set -l options
  for word in $typed[2..]
    __platform_node_choices (string join ' ' -- $at $word) && set -a at $word
  end
  __platform_node_choices (string join ' ' -- $at)
  if contains -- "$typed[-1]" ${valued(all)}
    set words
    __platform_node_values (string join ' ' -- $at $typed[-1])
  else if string match -q -- '-*' "$current"
    set words $options
  end
  printf '%s\\n' $words
end
function __platform_node_takes_no_file
  set -l offered (string match -- (commandline -ct)'*' (__platform_node_offered))
  test (count $offered) -gt 0
end
function __platform_node_choices --no-scope-shadowing
  switch "$argv[1]"
${cases.join('\n')}
    case '*'
      return 1
  end
  return 0
end
function __platform_node_values --no-scope-shadowing
  switch "$argv[1]"
${known.join('\n')}
    case '*'
      return 1
  end
  return 0
end
complete -c platform-node -e
complete -c platform-node -a '(__platform_node_offered)'
complete -c platform-node -n __platform_node_takes_no_file -f
`;
}

const SHELLS: Readonly<Record<string, (all: readonly Choices[]) => string>> = { bash, zsh, fish };
