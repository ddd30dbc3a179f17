import { App } from "./app";
import { FarmsApp } from "./farms/app";
import { Follower } from "./live/live";
import { embeddedSource } from "./source";

const page = document.getElementById("page")!;
const place = document.getElementById("podere-report")!;

/** In place of a document, a session's page and that of farms have a word. */
if (place.textContent === '"farms"') new FarmsApp(page);
else if (place.textContent === '"live"') {
  const follower = new Follower();
  follower.follow(new App(page, follower));
} else {
  const app = new App(page);
  embeddedSource(place).follow((reading) => app.show(reading));
}
