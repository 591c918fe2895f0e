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

/** Words typed so far → the words that may follow. */
type Choices = ReadonlyMap<string, readonly Choice[]>;

interface Choice {
  readonly word: string;
  readonly doc: string;
  /** True for an option that takes a value. */
  readonly takesValue?: boolean;
  /** The values that the option takes, where they are known. */
  readonly values?: readonly string[];
}

function choicesOf(command: Command, path = '', found = new Map<string, Choice[]>()): Choices {
  const words = command.commands.map((sub) => ({
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
  found.set(path, [...words, ...values, ...options, { word: '--help', doc: 'show help' }]);
  for (const sub of command.commands) {
    choicesOf(sub, path === '' ? sub.name() : `${path} ${sub.name()}`, found);
  }
  return found;
}

const wordsOf = (choices: readonly Choice[]): string => choices.map(({ word }) => word).join(' ');
const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Options after which a file or a value is typed, which no list can tell. */
const valued = (choices: Choices): string[] => [
  ...new Set(
    [...choices.values()].flat().flatMap((choice) => (choice.takesValue ? [choice.word] : [])),
  ),
];

/** The values of one command's option by its path and name, as cases of bash. */
const valueCases = (choices: Choices): string[] =>
  [...choices].flatMap(([path, list]) =>
    list
      .filter(({ values = [] }) => values.length > 0)
      .map(({ word, values = [] }) => {
        const where = singleQuoted(`${path} ${word}`.trim());
        return `    ${where}) words=${singleQuoted(values.join(' '))} ;;`;
      }),
  );

/** The longest known path among the words before the cursor decides. */
function bash(choices: Choices): string {
  const cases = [...choices].map(
    ([path, list]) => `    ${singleQuoted(path)}) words=${singleQuoted(wordsOf(list))} ;;`,
  );
  return `_platform_node() {
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _platform_node_words "\${path:+$path }$word" && path="\${path:+$path }$word"
  done
  case " ${valued(choices).join(' ')} " in
    *" $before "*) _platform_node_values "$path $before" && { COMPREPLY=($(compgen -W "$words" -- "$current")); return; } ;;
    *) _platform_node_words "$path"; COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
  [ "\${#COMPREPLY[@]}" -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
_platform_node_words() {
  case $1 in
${cases.join('\n')}
    *) return 1 ;;
  esac
}
_platform_node_values() {
  case $1 in
${valueCases(choices).join('\n')}
    *) return 1 ;;
  esac
}
complete -F _platform_node platform-node
`;
}

const zsh = (choices: Choices): string =>
  `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(choices)}`;

function fish(choices: Choices): string {
  const lines = [...choices].flatMap(([path, list]) => {
    const inside = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    const further = list.filter(({ word }) => !word.startsWith('-')).map(({ word }) => word);
    const ended =
      further.length === 0 ? [] : [`not __fish_seen_subcommand_from ${further.join(' ')}`];
    const where = path === '' ? '__fish_use_subcommand' : [...inside, ...ended].join('; and ');
    return list.map(({ word, doc, takesValue, values = [] }) => {
      const taken = values.length === 0 ? ' -r' : ` -x -a ${singleQuoted(values.join(' '))}`;
      const option = `-l ${word.slice(2)}${takesValue === true ? taken : ''}`;
      const what = word.startsWith('--') ? option : `-f -a ${word}`;
      return `complete -c platform-node -n ${singleQuoted(where)} ${what} -d ${singleQuoted(doc)}`;
    });
  });
  return `${lines.join('\n')}\n`;
}

const SHELLS: Readonly<Record<string, (choices: Choices) => string>> = { bash, zsh, fish };
