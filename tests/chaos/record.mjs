// What happened in a run: faults, answers, and everything that must not have.
export class Record {
  constructor() {
    this.failures = [];
    this.faults = 0;
    this.clients = 0;
    this.asked = 0;
    this.answered = 0;
    this.news = 0;
    this.errors = {};
    this.missed = {};
    this.told = [];
    this.began = Date.now();
  }

  fail(what) {
    this.failures.push(what);
  }

  fault(what) {
    this.faults += 1;
    this.told.push(`${Date.now() - this.began} ms: ${what}`);
  }

  // The summary of one client.
  add({ sent, answered, news, errors }) {
    this.asked += sent;
    this.answered += answered;
    this.news += news;
    for (const [code, count] of Object.entries(errors)) this.errors[code] = (this.errors[code] ?? 0) + count;
  }

  // Calls without an answer, and why that is all right.
  excuse(why, calls) {
    this.missed[why] = (this.missed[why] ?? 0) + calls;
  }

  lastFaults() {
    return this.told.slice(-40).join('\n');
  }

  line() {
    const list = (counts) =>
      Object.entries(counts)
        .map(([what, count]) => `${count} ${what}`)
        .join(', ') || 'none';
    return (
      `${this.faults} faults, ${this.clients} clients, ${this.asked} requests, ${this.answered} answers, ` +
      `${this.news} news; errors: ${list(this.errors)}; unanswered: ${list(this.missed)}`
    );
  }
}
