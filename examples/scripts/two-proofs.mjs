// Prints a transfer with a proof of Alice and one of Bob, each in its place.
//   node examples/scripts/two-proofs.mjs NETWORK SENDER RECIPIENT AMOUNT
import { readFileSync } from 'node:fs';
import { transfer } from '@waves/waves-transactions';

const [network, sender, recipient, amount] = process.argv.slice(2);
const { accounts, chainId } = JSON.parse(readFileSync(network, 'utf8'));
const { publicKey: senderPublicKey } = accounts.find(({ address }) => address === sender);
const fee = 1_400_000;
const fields = { version: 2, chainId, senderPublicKey, recipient, amount: Number(amount), fee };
const [alice, bob] = accounts.map(({ seed }) => seed);
console.log(JSON.stringify(transfer({ ...fields, attachment: '' }, [alice, bob])));
