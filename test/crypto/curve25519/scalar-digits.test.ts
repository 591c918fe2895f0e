import t from 'tap';
import { fromInteger } from '../../../src/crypto/curve25519/field.ts';
import { recodeScalar, SCALAR_DIGITS } from '../../../src/crypto/curve25519/scalar-digits.ts';
import { seededRandom } from '../random.ts';

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const random = seededRandom('scalar digits');
const digits = new Int8Array(SCALAR_DIGITS);

t.test('the digits are those of the number, odd and small', async (t) => {
  const numbers = [0n, 1n, 2n, 15n, 16n, 17n, 31n, 2n ** 31n, 2n ** 32n, 2n ** 33n - 1n, L - 1n, L];
  for (let bits = 30n; bits < 253n; bits += 3n) numbers.push(2n ** bits - 1n, 2n ** bits + 1n);
  for (let n = 0; n < 2000; n++) {
    numbers.push(BigInt(`0x${Buffer.from(random.bytes(32)).toString('hex')}`) % L);
  }
  numbers.push(2n ** 253n - 1n);
  for (const width of [5, 8]) {
    for (const number of numbers) {
      recodeScalar(digits, new Uint32Array(fromInteger(number).buffer), width);
      const sum = digits.reduce((total, digit, i) => total + BigInt(digit) * 2n ** BigInt(i), 0n);
      if (sum !== number) t.fail(`width ${width}: ${sum} instead of ${number}`);
      for (const digit of digits) {
        if (digit !== 0 && (digit % 2 === 0 || Math.abs(digit) >= 2 ** (width - 1))) {
          t.fail(`the digit ${digit} in width ${width}`);
        }
      }
    }
  }
});
