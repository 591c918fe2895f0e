/** `platform-node completion bash|zsh|fish`: scripts that follow from the registered commands. */
import type { Command } from 'commander';
import { CliError, EXIT } from './exit.ts';

export function register(command: Command, whole: () => Promise<Command>): void {
  command
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText(
      'after',
      '\nbash: source <(platform-node completion bash)\n' +
        'zsh:  source <(platform-node completion zsh)\n' +
        'fish: platform-node completion fish | source',
    )
    .action(async (shell: string) => {
      const print = SHELLS[shell];
      if (print === undefined) {
        throw new CliError(`Unknown shell '${shell}': expected bash, zsh or fish`, EXIT.usage);
      }
      process.stdout.write(print(choicesOf(await whole())));
    });
}

/** Words already typed → what may follow. */
type Choices = ReadonlyMap<string, readonly Choice[]>;

interface Choice {
  readonly word: string;
  readonly doc: string;
}

function choicesOf(command: Command, path = '', found = new Map<string, Choice[]>()): Choices {
  const words = command.commands.map((sub) => ({
    word: sub.name(),
    doc: sub.summary() || sub.description(),
  }));
  const options = command.options.map((option) => ({
    word: option.long ?? option.flags,
    doc: option.description,
  }));
  found.set(path, [...words, ...options, { word: '--help', doc: 'show help' }]);
  for (const sub of command.commands) {
    choicesOf(sub, path === '' ? sub.name() : `${path} ${sub.name()}`, found);
  }
  return found;
}

const wordsOf = (choices: readonly Choice[]): string => choices.map(({ word }) => word).join(' ');
const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The longest known path among the words before the cursor decides. */
function bash(choices: Choices): string {
  const cases = [...choices].map(
    ([path, list]) => `    ${singleQuoted(path)}) words=${singleQuoted(wordsOf(list))} ;;`,
  );
  return `_platform_node() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *)
      [ "$(_platform_node_words "\${path:+$path }$word")" ] && path="\${path:+$path }$word" ;;
    esac
  done
  words=$(_platform_node_words "$path")
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
_platform_node_words() {
  local words=
  case $1 in
${cases.join('\n')}
  esac
  printf '%s' "$words"
}
complete -F _platform_node platform-node
`;
}

const zsh = (choices: Choices): string =>
  `autoload -U +X bashcompinit && bashcompinit\n${bash(choices)}`;

function fish(choices: Choices): string {
  const lines = [...choices].flatMap(([path, list]) => {
    const inside =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    return list.map(({ word, doc }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c platform-node -n ${singleQuoted(inside)} ${what} -d ${singleQuoted(doc)}`;
    });
  });
  return `${lines.join('\n')}\n`;
}

const SHELLS: Readonly<Record<string, (choices: Choices) => string>> = { bash, zsh, fish };
