
"use strict";
// The words follow the sound, and the sound follows a click, or the arrow keys.
const sound = document.querySelector("audio");
const text = document.getElementById("words");
const words = [...text.querySelectorAll("span[data-from]")];
const from = words.map((word) => Number(word.dataset.from));
const picture = document.querySelector("svg");
const cursor = document.getElementById("cursor");
let shown = null;

// The last word that has begun by then; -1 before the first.
function at(time) {
  let [low, high] = [0, from.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (from[middle] <= time + 0.001) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function show(index) {
  if (shown) { shown.classList.remove("on"); shown.removeAttribute("aria-current"); }
  shown = index < 0 ? null : words[index];
  if (shown) { shown.classList.add("on"); shown.setAttribute("aria-current", "true"); }
}

function follow() {
  const index = at(sound.currentTime);
  if (words[index] !== shown) show(index);
  if (cursor && sound.duration) {
    const place = 1000 * sound.currentTime / Number(picture.dataset.length);
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
  }
}

function choose(index) {
  if (index < 0) return;
  go(from[index]);
  show(index);
}

function go(time) { sound.currentTime = Math.max(0, time); follow(); }

if (sound) {
  sound.addEventListener("timeupdate", follow);
  sound.addEventListener("play", function step() {
    follow();
    if (!sound.paused) requestAnimationFrame(step);
  });
  text.addEventListener("click", (event) => {
    const index = words.indexOf(event.target);
    if (index >= 0) { choose(index); sound.play(); }
  });
  text.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const index = shown ? words.indexOf(shown) : at(sound.currentTime);
    if (step) choose(Math.min(Math.max(index + step, 0), words.length - 1));
    else if (event.key === " ") { if (sound.paused) sound.play(); else sound.pause(); }
    else return;
    event.preventDefault();
  });
  if (picture) picture.addEventListener("click", (event) => {
    const place = picture.getBoundingClientRect();
    go(Number(picture.dataset.length) * (event.clientX - place.left) / place.width);
  });
}
