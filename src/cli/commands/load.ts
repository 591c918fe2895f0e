/** `platform-node load`: how many transfers running nodes accept and confirm. */
import { type Command, Option } from 'commander';
import { type TlsFlags, tlsOptions } from '../node-options.ts';
import { nationalOption } from '../offline-options.ts';

const CONNECTIONS_MAX = 10_000;
const ACCOUNTS_MAX = 10_000;
const SECONDS_MAX = 86_400;
const RATE_MAX = 1_000_000;

interface Flags extends TlsFlags {
  readonly url: readonly string[];
  readonly seedFile: string;
  readonly seconds: string;
  readonly rate?: string;
  readonly count?: string;
  readonly connections: string;
  readonly accounts: string;
  readonly wait: string;
  readonly chainId?: string;
  readonly nationalCrypto?: true;
  readonly ndjson?: true;
}

const HELP = `
Transfers are signed before the measurement. They are sent by accounts that follow from the seed
phrase, and that its first account funds where they have too little; what is left stays with them.
Without --rate every connection sends its next transfer as soon as it has an answer. With it,
latencies count from the time when a transfer was due, however late the answers before it were.
Any node of the family can be measured. The load takes a part of this machine's processors.`;

export function register(command: Command): void {
  tlsOptions(command)
    .addOption(
      new Option(
        '-u, --url <urls...>',
        'REST interfaces of the nodes; the first one is asked for blocks',
      )
        .env('PLATFORM_NODE_URL')
        .default(['http://127.0.0.1:6862']),
    )
    .requiredOption('--seed-file <file>', "seed phrase of a funded account; '-' is stdin")
    .option('--seconds <n>', 'how long to send', '10')
    .option('--rate <n>', 'transfers a second; default: as many as the nodes answer')
    .option('--count <n>', 'the most transfers; default: as many as time and rate allow')
    .option('--connections <n>', 'connections, spread over the nodes', '32')
    .option('--accounts <n>', 'accounts that send', '100')
    .option('--wait <seconds>', 'how long to wait for the last blocks', '60')
    .addOption(
      new Option('-c, --chain-id <character>', 'network id; default: the node is asked').env(
        'PLATFORM_NODE_CHAIN_ID',
      ),
    )
    .addOption(nationalOption())
    .option('--ndjson', 'also print a line every second')
    .addHelpText('after', HELP)
    .action(async (flags: Flags) => {
      const { positive } = await import('../terminal/documents.ts');
      const { clientTls } = await import('../tls/client-tls.ts');
      const { load, TRANSFERS_IN_MEMORY_MAX } = await import('../load/load.ts');
      const number = (text: string | undefined, name: string, max: number) =>
        text === undefined ? undefined : positive(text, name, max);
      await load({
        urls: [flags.url].flat(),
        tls: clientTls(flags),
        seedFile: flags.seedFile,
        seconds: positive(flags.seconds, '--seconds', SECONDS_MAX),
        rate: number(flags.rate, '--rate', RATE_MAX),
        count: number(flags.count, '--count', TRANSFERS_IN_MEMORY_MAX),
        connections: positive(flags.connections, '--connections', CONNECTIONS_MAX),
        accounts: positive(flags.accounts, '--accounts', ACCOUNTS_MAX),
        waitSeconds: positive(flags.wait, '--wait', SECONDS_MAX),
        chainId: flags.chainId,
        nationalCrypto: flags.nationalCrypto === true,
        ndjson: flags.ndjson === true,
      });
    });
}
