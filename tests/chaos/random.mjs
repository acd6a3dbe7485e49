// Choices that a seed repeats (mulberry32).
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  // Both ends included.
  between(least, most) {
    return least + this.below(most - least + 1);
  }

  chance(part) {
    return this.next() < part;
  }

  // Undefined from an empty list.
  pick(list) {
    return list[this.below(list.length)];
  }

  // One of `choices`, each as often as its weight says.
  weighted(choices) {
    let left = this.next() * choices.reduce((sum, { weight }) => sum + weight, 0);
    return choices.find(({ weight }) => (left -= weight) < 0) ?? choices.at(-1);
  }
}
