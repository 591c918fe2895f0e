// The genesis section: its rules (scenarios 2 and 3) and signing inside the text of a file.
import fc from 'fast-check';
import t from 'tap';
import { parseHoconText } from '../../../src/adapters/hocon.ts';
import { base58 } from '../../../src/base/base58.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { editGenesis } from '../../../src/node/config/edit-genesis.ts';
import {
  genesisSettings,
  joinErrors,
  validateGenesis,
} from '../../../src/node/config/genesis-section.ts';
import { LEAST, OWNER, OWNER_KEY, read } from './sample.ts';

const scheme = createChainScheme(createFamily('curve25519'), 'T'.charCodeAt(0));
const OTHER_KEY = base58.encode(new Uint8Array(32).fill(7));
const OTHER = scheme.addressToText(scheme.addressOf(new Uint8Array(32).fill(7)));
const ALL = '[permissioner, miner, connection_manager]';

async function findings(section: string) {
  const { config } = await read(`${LEAST} genesis { ${section} }`);
  return validateGenesis(config.blockchain.custom.genesis, scheme);
}
const listed = (sum: string, recipients: string, participants: string): string =>
  `initial-balance = ${sum}, transactions = [${recipients}], network-participants = [${participants}]`;
const to = (recipient: string, amount: string | number) =>
  `{ recipient = ${recipient}, amount = ${amount} }`;
const who = (key: string, roles: string) => `{ public-key = ${key}, roles = ${roles} }`;

t.test('a sound genesis', async (t) => {
  const recipients = `${to(OWNER, '"1 WEST"')}, ${to(OTHER, 5)}`;
  const section = listed(
    '100000005',
    recipients,
    `${who(OWNER_KEY, ALL)}, ${who(OTHER_KEY, '[]')}`,
  );
  t.same(await findings(section), { errors: [], warnings: [] });
  const { config } = await read(`${LEAST} genesis { ${section} }`);
  const settings = genesisSettings(config, 1_600_000_000_000, scheme);
  t.same(settings.networkParticipants[0]?.roles, [4, 1, 8], 'bytes of the roles, in their order');
  t.equal(settings.transactions[0]?.amount, 100_000_000n);
  t.same(settings.consensus, { kind: 'pos', initialBaseTarget: 153_722_867n });
});

t.test('rules of blocks.md#signing, reported together', async (t) => {
  const { errors } = await findings(
    listed('7', to(OWNER, 5), `${who(OWNER_KEY, '[]')}, ${who(OWNER_KEY, '[]')}`),
  );
  t.same(errors, [
    `The following network participants are duplicated: '[${OWNER_KEY}]'`,
    "At least one network participant must have the 'permissioner' role",
    "At least one network participant must have the 'miner' role",
    "At least one network participant must have the 'connection_manager' role",
    "The value of 'initial-balance' has to be equal to the sum of transactions amounts",
  ]);
  t.equal(joinErrors(['a', 'b']), '[a,b]');
});

t.test('amounts, addresses and keys', async (t) => {
  const foreign = '3NiF6nEVcetSYetQR4qgAFhSdZveGLKUqL5';
  const { errors } = await findings(
    listed('5', `${to(foreign, 5)}, ${to(OWNER, 0)}`, `${who('abc', ALL)}`),
  );
  t.match(errors.join('\n'), /Recipient '3NiF6.*Data from other network/);
  t.match(errors.join('\n'), /The amount of recipient '3MuZ.* must be positive/);
  t.match(
    errors.join('\n'),
    /public key of network participant 'abc' is invalid: not Base58 of 32 bytes/,
  );
  t.equal(errors.length, 3);
});

t.test('another order of the lists is a warning as far as both reach', async (t) => {
  const crossed = await findings(
    listed('10', `${to(OTHER, 5)}, ${to(OWNER, 5)}`, who(OWNER_KEY, ALL)),
  );
  t.same(crossed.errors, []);
  t.equal(crossed.warnings.length, 1);
  t.match(crossed.warnings[0], /should have the same order/);
  const longer = await findings(
    listed('10', `${to(OWNER, 5)}, ${to(OTHER, 5)}`, who(OWNER_KEY, ALL)),
  );
  t.same(longer.warnings, []);
});

const SIGNED = { signature: 'SIG', publicKey: 'KEY', timestamp: 1_600_000_000_123 };

t.test('three values change, every other byte stays', async (t) => {
  const text = [
    '# signature = "a comment stays"',
    'node {',
    '\tblockchain.custom { # "quoted" // and more',
    '\t  genesis {',
    '\t\tsignature   :   "old"   // why',
    '    block-timestamp=0 # ms',
    '    "genesis-public-key-base-58" = old,',
    '    transactions = [ { recipient: "signature = x", amount: 1 } ]',
    '  } } }',
    'signature = untouched',
    '',
  ].join('\r\n');
  t.equal(
    editGenesis(text, SIGNED),
    text
      .replace('"old"   // why', '"SIG"   // why')
      .replace('block-timestamp=0', 'block-timestamp=1600000000123')
      .replace('= old,', '= "KEY",'),
  );
});

t.test('missing values are put beside their siblings, in their style', async (t) => {
  t.equal(
    editGenesis('genesis {\n    initial-balance : 5 # x\n}\n', SIGNED),
    'genesis {\n    block-timestamp : 1600000000123\n    genesis-public-key-base-58 : "KEY"\n' +
      '    signature : "SIG"\n    initial-balance : 5 # x\n}\n',
  );
  t.equal(
    editGenesis('node.genesis.initial-balance = 5\n', SIGNED),
    'node.genesis.block-timestamp = 1600000000123\n' +
      'node.genesis.genesis-public-key-base-58 = "KEY"\n' +
      'node.genesis.signature = "SIG"\nnode.genesis.initial-balance = 5\n',
  );
  t.equal(
    editGenesis('genesis { initial-balance = 5 }', SIGNED),
    'genesis { block-timestamp = 1600000000123, genesis-public-key-base-58 = "KEY", ' +
      'signature = "SIG", initial-balance = 5 }',
  );
  const json = JSON.stringify({ genesis: { 'initial-balance': 5 } }, null, 2);
  t.same(JSON.parse(editGenesis(json, SIGNED) ?? ''), {
    genesis: {
      signature: 'SIG',
      'genesis-public-key-base-58': 'KEY',
      'block-timestamp': 1_600_000_000_123,
      'initial-balance': 5,
    },
  });
  t.equal(editGenesis('include "genesis.conf"', SIGNED), undefined);
});

t.test(
  'whatever the style, the parser then reads the three values and nothing else anew',
  async (t) => {
    const piece = (...texts: string[]) => fc.constantFrom(...texts);
    const style = fc.record({
      root: fc.boolean(),
      dotted: fc.boolean(),
      assign: piece(' = ', '=', ' : ', ': '),
      end: piece('\n', '\r\n'),
      indent: piece('', '  ', '\t', '        '),
      comment: piece('', ' # { [ "', ' // signature = "no"', ' # $x'),
      value: piece('"old"', 'old', '""', '"""tri "ple"""'),
      present: fc.subarray(['signature', 'genesis-public-key-base-58', 'block-timestamp']),
      note: piece('# {', '// "', ''),
    });
    await fc.assert(
      fc.asyncProperty(style, async (s) => {
        const line = (key: string, value: string) =>
          `${s.indent}${key}${s.assign}${value}${s.comment}${s.end}`;
        const inner = [
          line('initial-balance', '5'),
          ...s.present.map((key) => line(key, s.value)),
          line('transactions', `[ { recipient${s.assign}"a }", amount${s.assign}5 } ]`),
        ].join(`${s.note}${s.end}`);
        const place = s.dotted ? 'blockchain.custom.genesis {' : 'blockchain { custom { genesis {';
        const body = `${place}${s.end}${inner}${s.dotted ? '}' : '} } }'}${s.end}`;
        const text = s.root ? `node {${s.end}${body}}${s.end}` : body;
        const edited = editGenesis(text, SIGNED) ?? '';
        const genesisOf = (tree: unknown) => {
          const node = (s.root ? (tree as { node: unknown }).node : tree) as {
            blockchain: { custom: { genesis: Record<string, unknown> } };
          };
          return node.blockchain.custom.genesis;
        };
        t.same(genesisOf(await parseHoconText(edited)), {
          ...genesisOf(await parseHoconText(text)),
          signature: 'SIG',
          'genesis-public-key-base-58': 'KEY',
          'block-timestamp': 1_600_000_000_123,
        });
        t.equal(edited.split(s.end).length, text.split(s.end).length + 3 - s.present.length);
      }),
      { numRuns: 200 },
    );
  },
);
