/** The page of `podere farm status --page`: how all farms stand, and one of them in large. */
import { html, write } from "../dom";
import { clock } from "../format";
import { Banner } from "../live/banner";
import { kLinkOfCommand, newsText, tabText, type Served } from "../live/connection";
import { Link } from "../live/link";
import { NewsLog } from "../live/news";
import { marked } from "../parts/controls";
import { pageHead } from "../parts/page_head";
import { FarmCard } from "./card";
import { keyOf, readFarms, type Farm, type Farms } from "./farms";
import { Sums } from "./sums";
import { addressOf, FarmTable } from "./table";

/** #farm=hep/cms; empty: the address names none. */
function readAddress(): string {
  const path = location.hash.startsWith("#farm=") ? location.hash.slice("#farm=".length) : "";
  try {
    return path.split("/").map(decodeURIComponent).join("/");
  } catch {
    return path;
  }
}

const kMake = "To make one, apply an object of the kind `Farm`, as docs/farms.md shows: `kubectl apply -f farm.yaml`";

const noFarms = ({ namespace }: Farms): string[] =>
  namespace === undefined
    ? ["There are no farms in this cluster.", kMake]
    : [
        `There are no farms in namespace ${namespace}.`,
        "To see those of all namespaces: `podere farm status --all-namespaces --page`",
        kMake,
      ];

export class FarmsApp {
  private title = html("h2", { tabindex: -1 }, "Farms");
  private about = html("span", { class: "soft" });
  private answered = html("span", { class: "soft number" });
  private message = html("div", { class: "empty" }, html("p", {}, "Waiting for the first answer."));
  private sums = new Sums();
  private table = new FarmTable((farm) => this.choose(farm));
  private card = new FarmCard();
  private absent = html("p", { class: "empty", role: "status" });
  private farms = html(
    "div",
    { class: "beside", hidden: true },
    this.table.element,
    html("div", {}, this.absent, this.card.element),
  );
  private news = new NewsLog();
  private banner = new Banner(() => this.link.askNow());
  private link = new Link<Farms>("api/farms", {
    read: readFarms,
    nameOf: ({ server }) => server,
    took: () => this.tick(),
    changed: () => this.follow(),
  });
  /** Chosen by the page while the address names none. */
  private byDefault = "";
  private reported = "";

  constructor(page: HTMLElement) {
    page.replaceChildren(
      ...pageHead(this.title, this.about, this.answered),
      this.banner.element,
      this.news.element,
      html("main", { id: "content" }, this.title, this.message, this.sums.element, this.farms),
    );
    addEventListener("hashchange", () => {
      this.show();
      if (!this.card.element.hidden) this.card.reveal();
    });
    this.follow();
    this.link.askNow();
  }

  private follow(): void {
    const { last, connection, answered } = this.link;
    const served: Served = { connection, answered, what: "command", link: kLinkOfCommand, problem: last?.problem };
    this.banner.follow(served);
    this.report(served);
    const name = last?.namespace === undefined ? "Farms" : `Farms of ${last.namespace}`;
    const trouble = tabText(served);
    document.title = `${trouble ? `${trouble}: ` : ""}${name} – Podere`;
    if (last) this.show();
  }

  /** Once for the same state. The first is no news. */
  private report(served: Served): void {
    const { kind } = served.connection;
    const now = (kind === "following" && served.problem) || newsText(served, undefined);
    if (this.reported && now !== this.reported) this.news.announce(now);
    if (kind !== "starting") this.reported = now;
  }

  /** With each answer, also one that is the same as before. */
  private tick(): void {
    const { answered } = this.link;
    if (answered) write(this.answered, `answered ${clock(answered)}`);
    const farm = this.chosen();
    if (farm && !this.farms.hidden) this.card.show(farm);
  }

  private choose(farm: Farm): void {
    history.replaceState(null, "", addressOf(farm));
    this.show();
  }

  /** By the address, or the first that has something pending, or the first. */
  private chosen(): Farm | undefined {
    const farms = this.link.last?.farms ?? [];
    const named = readAddress();
    if (named) return farms.find((farm) => keyOf(farm) === named);
    const kept = farms.find((farm) => keyOf(farm) === this.byDefault);
    const found = kept ?? farms.find(({ status }) => status?.pending) ?? farms[0];
    this.byDefault = found ? keyOf(found) : "";
    return found;
  }

  private show(): void {
    const { last } = this.link;
    if (!last) return;
    const where = last.namespace === undefined ? "all namespaces" : `namespace ${last.namespace}`;
    write(this.about, [last.server, where, last.version].filter(Boolean).join(" · "));
    const { farms } = last;
    this.message.hidden = farms.length > 0 || last.problem !== undefined;
    if (!this.message.hidden) this.message.replaceChildren(...noFarms(last).map((text) => html("p", {}, ...marked(text))));
    this.farms.hidden = this.sums.element.hidden = !farms.length;
    if (!farms.length) return;
    this.sums.show(farms);
    const farm = this.chosen();
    this.table.show(farms, farm ? keyOf(farm) : "");
    this.card.element.hidden = !farm;
    this.absent.hidden = farm !== undefined;
    write(this.absent, farm ? "" : `There is no farm ${readAddress()}, or no longer. Choose another one.`);
    if (farm) this.card.show(farm);
  }
}
